/** Preferences stored in this browser: appearance, sizes, shortcuts. They are never sent. */

import { type Language, language, setLanguage } from '../i18n/index.svelte';

export type Theme = 'system' | 'light' | 'dark' | 'contrast';
export type Density = 'comfortable' | 'compact';

interface Prefs {
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

export const DEFAULTS: Prefs = {
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

function load(): Prefs {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<Prefs>) };
  } catch {
    return { ...DEFAULTS };
  }
}

export const prefs = $state<Prefs>(load());

export function setPref<K extends keyof Prefs>(name: K, value: Prefs[K]): void {
  prefs[name] = value;
  try {
    // Another tab may have set others meanwhile.
    localStorage.setItem(NAME, JSON.stringify({ ...load(), [name]: value }));
  } catch {
    // Storage may be blocked: the preference lasts until the page closes then.
  }
  if (name === 'theme' || name === 'density') applyLooks();
  if (name === 'language') void setLanguage(preferredLanguage());
}

export const preferredLanguage = (): Language => {
  if (prefs.language !== 'system') return prefs.language;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
};

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const prefersContrast = matchMedia('(prefers-contrast: more)');

function applyLooks(): void {
  const root = document.documentElement;
  const preferred = prefersContrast.matches ? 'contrast' : prefersDark.matches ? 'dark' : 'light';
  root.dataset.theme = prefs.theme === 'system' ? preferred : prefs.theme;
  root.dataset.scheme = prefersDark.matches ? 'dark' : 'light';
  root.dataset.density = prefs.density;
}

/** Applies the preferences, and follows changes of the system and of other tabs. */
export async function applyPrefs(): Promise<void> {
  addEventListener('storage', ({ key }) => {
    if (key !== NAME && key !== null) return;
    Object.assign(prefs, load());
    applyLooks();
    if (preferredLanguage() !== language()) void setLanguage(preferredLanguage());
  });
  prefersDark.addEventListener('change', applyLooks);
  prefersContrast.addEventListener('change', applyLooks);
  applyLooks();
  await setLanguage(preferredLanguage());
}
