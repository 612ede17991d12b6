/** State of the bars and panels around the screens. */

import type { Work } from './work.svelte';

class Shell {
  /** Open work. */
  work = $state.raw<Work | null>(null);
  side = $state<'works' | 'files'>('works');
  /** Panel that covers the page on a narrow window. */
  overlay = $state<'side' | 'inspector' | null>(null);
  /** Scope of the open palette. */
  palette = $state<'all' | 'files' | null>(null);
  sheet = $state<'keys' | null>(null);
}

export const shell = new Shell();
