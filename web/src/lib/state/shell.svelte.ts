/** What the frame around the screens shows. */

import type { Work } from './work.svelte';

class Shell {
  /** The work that is open, for the bars. */
  work = $state.raw<Work | null>(null);
  /** Which list the side panel has. */
  side = $state<'works' | 'files'>('works');
  /** What lies over the page where there is no room beside it. */
  overlay = $state<'side' | 'inspector' | null>(null);
  /** What the palette finds, while it is open. */
  palette = $state<'all' | 'files' | null>(null);
  sheet = $state<'keys' | null>(null);
}

export const shell = new Shell();
