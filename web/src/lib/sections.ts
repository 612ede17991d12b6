/** Sections of the settings. */

import type { Key } from './i18n/index.svelte';

export const SECTIONS: { id: string; name: Key }[] = [
  { id: 'models', name: 'settings.models' },
  { id: 'runs', name: 'settings.runs' },
  { id: 'policy', name: 'settings.policy' },
  { id: 'mcp', name: 'settings.mcp' },
  { id: 'packages', name: 'settings.packages' },
  { id: 'looks', name: 'settings.looks' },
  { id: 'keys', name: 'settings.keys' },
  { id: 'health', name: 'settings.health' },
];
