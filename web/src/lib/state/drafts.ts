/**
 * What was typed or chosen and not sent yet, by the journal or the question it is for. It outlives the part of the page it
 * was typed in, which goes when it is scrolled away, and a reload of the tab; it goes with the tab.
 */

const name = (key: string): string => `crewagent.draft.${key}`;

/** What was kept under this key, if it is of the kind that is expected there. */
export function draft<T>(key: string, isKind: (stored: unknown) => stored is T): T | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(name(key)) ?? 'null');
    return isKind(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it; nothing is kept of what is empty. */
export function keepDraft(key: string, value: string | readonly unknown[] | Record<string, unknown>): void {
  const isEmpty = (Array.isArray(value) || typeof value === 'string' ? value : Object.keys(value)).length === 0;
  try {
    if (isEmpty) sessionStorage.removeItem(name(key));
    else sessionStorage.setItem(name(key), JSON.stringify(value));
  } catch {
    // A browser that keeps nothing forgets this too.
  }
}

/** Words that wait to be said are kept under this key. */
export const queueOf = (journal: string): string => `${journal}/queue`;

/** Whether words wait anywhere. */
export function hasQueue(): boolean {
  try {
    return Object.keys(sessionStorage).some((key) => key.startsWith(name('')) && key.endsWith(queueOf('')));
  } catch {
    return false;
  }
}

export const isText = (stored: unknown): stored is string => typeof stored === 'string';
export const isRecord = (stored: unknown): stored is Record<string, unknown> => typeof stored === 'object' && stored !== null && !Array.isArray(stored);
export const isTexts = (stored: unknown): stored is string[] => Array.isArray(stored) && stored.every(isText);
