/** A file that was dropped on a page, for the page that takes it. */
export const drop = $state<{ file: File | null }>({ file: null });
