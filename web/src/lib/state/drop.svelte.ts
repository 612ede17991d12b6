/** File that was dropped anywhere, for the import screen. */
export const drop = $state<{ file: File | null }>({ file: null });
