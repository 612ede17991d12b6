/**
 * Unsent input, by the journal or the question it is for. A draft survives the unmounting of its component, which happens on
 * scrolling, and a reload; it ends with the tab.
 */

const name = (key: string): string => `crewagent.draft.${key}`;

/** Reads the draft of a key, if it has the expected type. */
export function draft<T>(key: string, isKind: (stored: unknown) => stored is T): T | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(name(key)) ?? 'null');
    return isKind(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** Stores a draft; removes it if it is empty. */
export function keepDraft(key: string, value: string | readonly unknown[] | Record<string, unknown>): void {
  const isEmpty = (Array.isArray(value) || typeof value === 'string' ? value : Object.keys(value)).length === 0;
  try {
    if (isEmpty) sessionStorage.removeItem(name(key));
    else sessionStorage.setItem(name(key), JSON.stringify(value));
  } catch {
    // Storage may be blocked: the draft is lost with the page then.
  }
}

/** Returns the key of the queue of a journal. */
export const queueOf = (journal: string): string => `${journal}/queue`;

/** Returns true if any journal has queued messages. */
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
