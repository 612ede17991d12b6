/** Shortcuts: names, default keys, and the reading of key presses. */

import type { Key } from './i18n/index.svelte';
import { SCREEN_NAMES, SCREENS } from './screens';

export interface Shortcut {
  id: string;
  name: Key;
  /** `mod` is Ctrl, or Command on a Mac. A space separates keys that are pressed in sequence. */
  keys: string[];
}

const ofScreens = SCREEN_NAMES.flatMap((id): Shortcut[] => {
  const { key } = SCREENS[id];
  return key ? [{ id, name: `keys.${id}` as Key, keys: [key] }] : [];
});

export const SHORTCUTS: Shortcut[] = [
  { id: 'palette', name: 'keys.palette', keys: ['mod+k'] },
  { id: 'new', name: 'keys.new', keys: ['g n', 'alt+n'] },
  { id: 'file', name: 'keys.file', keys: ['mod+p'] },
  { id: 'side', name: 'keys.side', keys: ['mod+b'] },
  { id: 'inspector', name: 'keys.inspector', keys: ['mod+j'] },
  { id: 'save', name: 'keys.save', keys: ['mod+s'] },
  { id: 'stop', name: 'keys.stop', keys: ['mod+.'] },
  { id: 'previous', name: 'keys.previous', keys: ['mod+['] },
  { id: 'next', name: 'keys.next', keys: ['mod+]'] },
  { id: 'works', name: 'keys.works', keys: ['g w'] },
  { id: 'files', name: 'keys.files', keys: ['g f'] },
  ...ofScreens,
  { id: 'replay', name: 'keys.replay', keys: ['g t'] },
  { id: 'regions', name: 'keys.regions', keys: ['F6'] },
  { id: 'regionsBack', name: 'keys.regionsBack', keys: ['shift+F6'] },
  { id: 'sheet', name: 'keys.sheet', keys: ['?'] },
];

export const isMac = /mac|iphone|ipad/i.test(navigator.userAgent);

/** Returns a key press in the notation of the table. */
export function readKeys(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const parts: string[] = [];
  if (mod) parts.push('mod');
  if (event.altKey) parts.push('alt');
  if (event.shiftKey && event.key.length > 1) parts.push('shift');
  return [...parts, key].join('+');
}

/** Formats keys for the user: `⌘K`, `Ctrl K`, `G N`. */
export function formatKeys(keys: string): string {
  return keys
    .split(' ')
    .map((one) =>
      one
        .split('+')
        .map((part) => {
          if (part === 'mod') return isMac ? '⌘' : 'Ctrl';
          if (part === 'alt') return isMac ? '⌥' : 'Alt';
          if (part === 'shift') return isMac ? '⇧' : 'Shift';
          const arrow = { ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→' }[part];
          if (arrow) return arrow;
          return part.length === 1 ? part.toUpperCase() : part;
        })
        .join(isMac ? '' : ' '),
    )
    .join(' ');
}

/** Returns the keys of a shortcut: those that the user set, or the defaults. */
export function keysOf(shortcut: Shortcut, own: Record<string, string>): string[] {
  const set = own[shortcut.id];
  return set ? [set] : shortcut.keys;
}

/** Finds another shortcut with the same keys, or of which one is a prefix of the other. */
export function conflictingShortcut(id: string, keys: string, own: Record<string, string>): Shortcut | undefined {
  const isNear = (other: string): boolean => other === keys || other.startsWith(`${keys} `) || keys.startsWith(`${other} `);
  return SHORTCUTS.find((one) => one.id !== id && keysOf(one, own).some(isNear));
}

/** Returns true if an input method handles the key. Some browsers only report key code 229. */
export const isComposed = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;

/** Returns true if the user is typing text, so that a letter is no shortcut. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Reader of key presses. Remembers the first key of a sequence for 1.2 seconds. */
export class KeyReader {
  #first = '';
  #since = 0;

  read(event: KeyboardEvent, own: Record<string, string>): string | undefined {
    if (isComposed(event)) return undefined;
    const now = readKeys(event);
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (isPlain && isTyping(event) && event.key.length === 1) return undefined;
    const pair = event.timeStamp - this.#since < 1200 ? `${this.#first} ${now}` : now;
    this.#first = now;
    this.#since = event.timeStamp;
    const find = (keys: string): Shortcut | undefined => SHORTCUTS.find((one) => keysOf(one, own).includes(keys));
    // Browsers reserve some of these keys, so each tab has two shortcuts.
    const tab = /^(?:mod|alt)\+([1-9])$/.exec(now)?.[1];
    return (find(pair) ?? find(now))?.id ?? (tab && `tab-${tab}`);
  }
}
