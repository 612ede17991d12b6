/** Shortcuts: what they are called, what they are by default, and what was pressed. */

import type { Key } from './i18n/index.svelte';
import { SCREEN_NAMES, SCREENS } from './screens';

export interface Shortcut {
  id: string;
  name: Key;
  /** `mod` is Ctrl, or the command key on a Mac. Two keys with a space between them are pressed one after the other. */
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

/** A key press in the words of the table. */
export function readKeys(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const parts: string[] = [];
  if (mod) parts.push('mod');
  if (event.altKey) parts.push('alt');
  if (event.shiftKey && event.key.length > 1) parts.push('shift');
  return [...parts, key].join('+');
}

/** For people: `⌘K`, `Ctrl K`, `G N`. */
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

/** The keys of a shortcut, with what the user has set in front. */
export function keysOf(shortcut: Shortcut, own: Record<string, string>): string[] {
  const set = own[shortcut.id];
  return set ? [set] : shortcut.keys;
}

/** The shortcut that keys cannot be told apart from: the same ones, or those that it begins with. */
export function conflictingShortcut(id: string, keys: string, own: Record<string, string>): Shortcut | undefined {
  const isNear = (other: string): boolean => other === keys || other.startsWith(`${keys} `) || keys.startsWith(`${other} `);
  return SHORTCUTS.find((one) => one.id !== id && keysOf(one, own).some(isNear));
}

/** Whether a key belongs to an input method that is at work. Some browsers only say 229. */
export const isComposed = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;

/** Whether the user is writing, so that single letters are letters. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Finds the shortcut of a key press. Keeps the first of two keys for a moment. */
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
    // Browsers keep some of them to themselves, so there are two ways to each tab.
    const tab = /^(?:mod|alt)\+([1-9])$/.exec(now)?.[1];
    return (find(pair) ?? find(now))?.id ?? (tab && `tab-${tab}`);
  }
}
