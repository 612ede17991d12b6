/** Screens that share one chunk, so that they open even if the server is gone. Those that a visit starts with have their own. */
export const screens = import.meta.glob(['./*Screen.svelte', '!./StartScreen.svelte', '!./WorkScreen.svelte'], { eager: true });
