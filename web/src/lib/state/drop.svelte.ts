import type { Dropped } from '../dropped';

/** Source for the import screen: dropped anywhere, or named by another screen as a path. */
export const drop = $state<{ source: Dropped | string | null }>({ source: null });
