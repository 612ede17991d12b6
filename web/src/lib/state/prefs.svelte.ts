/** What this browser remembers: looks, sizes, shortcuts. Nothing of it is sent anywhere. */

import { type Language, language, speak } from '../i18n/index.svelte';

export type Theme = 'system' | 'light' | 'dark' | 'contrast';
export type Density = 'comfortable' | 'compact';

interface Kept {
  theme: Theme;
  language: Language | 'system';
  density: Density;
  side: number;
  inspector: number;
  dock: number;
  sideOpen: boolean;
  inspectorOpen: boolean;
  hiddenFiles: boolean;
  notify: boolean;
  keys: Record<string, string>;
}

export const DEFAULTS: Kept = {
  theme: 'system',
  language: 'system',
  density: 'comfortable',
  side: 264,
  inspector: 384,
  dock: 160,
  sideOpen: true,
  inspectorOpen: true,
  hiddenFiles: false,
  notify: false,
  keys: {},
};

const NAME = 'crewagent.prefs';

function load(): Kept {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<Kept>) };
  } catch {
    return { ...DEFAULTS };
  }
}

export const prefs = $state<Kept>(load());

export function setPref<K extends keyof Kept>(name: K, value: Kept[K]): void {
  prefs[name] = value;
  try {
    // Another tab may have set others meanwhile.
    localStorage.setItem(NAME, JSON.stringify({ ...load(), [name]: value }));
  } catch {
    // A browser that keeps nothing forgets this too.
  }
  if (name === 'theme' || name === 'density') show();
  if (name === 'language') void speak(spoken());
}

export const spoken = (): Language => {
  if (prefs.language !== 'system') return prefs.language;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
};

const darkWish = matchMedia('(prefers-color-scheme: dark)');
const contrastWish = matchMedia('(prefers-contrast: more)');

function show(): void {
  const root = document.documentElement;
  const wished = contrastWish.matches ? 'contrast' : darkWish.matches ? 'dark' : 'light';
  root.dataset.theme = prefs.theme === 'system' ? wished : prefs.theme;
  root.dataset.scheme = darkWish.matches ? 'dark' : 'light';
  root.dataset.density = prefs.density;
}

/** Shows the page as it was left, and follows the system where that is wished, and the other tabs. */
export async function applyPrefs(): Promise<void> {
  addEventListener('storage', ({ key }) => {
    if (key !== NAME && key !== null) return;
    Object.assign(prefs, load());
    show();
    if (spoken() !== language()) void speak(spoken());
  });
  darkWish.addEventListener('change', show);
  contrastWish.addEventListener('change', show);
  show();
  await speak(spoken());
}
