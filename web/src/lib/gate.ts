/** Gates: the options and drafts that the runtime shows, the keys that choose an option, and what came of an answer. */

import type { GateAction, Payload, Question, ShownDraft } from './api/types';
import { keysOf, SHORTCUTS } from './keys';
import { objectOf } from './payload';

/** Option of a gate. Its value is its key in the workflow. */
export interface GateOption {
  value: string;
  label: string;
  does: GateAction | undefined;
}

export const gateOptions = (question: Question): GateOption[] =>
  (question.options ?? []).map((option) => ({ value: option.value, label: option.label ?? option.value, does: option.does }));

export const gateDrafts = (question: Question): ShownDraft[] => question.show ?? [];

/** Returns the key on the keyboard that chooses each option: its own if it is one letter or digit and not taken, else its number. */
export function gateKeys(options: readonly GateOption[], isTaken: (key: string) => boolean): (string | undefined)[] {
  const own = options.map(({ value }) => value.toLowerCase()).map((key) => (/^[\p{L}\p{N}]$/u.test(key) && !isTaken(key) ? key : undefined));
  return own.map((key, at) => {
    if (key !== undefined && own.indexOf(key) === at) return key;
    const number = String(at + 1);
    return number.length === 1 && !own.includes(number) ? number : undefined;
  });
}

/** Finds the option that a key press chooses: the one that the key is shown on, else the one with that number. */
export function gateOptionAt(options: readonly GateOption[], keys: readonly (string | undefined)[], pressed: string): GateOption | undefined {
  const at = keys.indexOf(pressed.toLowerCase());
  return options[at >= 0 ? at : /^[1-9]$/.test(pressed) ? Number(pressed) - 1 : -1];
}

/** Finds the option that an answer names, as the runtime does: by number, key, label, or the beginning of one label only. */
export function chosenOption(options: readonly GateOption[], answer: string): GateOption | undefined {
  const word = answer.trim().toLowerCase();
  if (word === '') return undefined;
  const begins = options.filter(({ label }) => label.toLowerCase().startsWith(word));
  return (
    options.find(({ value }) => value.toLowerCase() === word) ??
    (/^\d+$/.test(word) ? options[Number(word) - 1] : undefined) ??
    options.find(({ label }) => label.toLowerCase() === word) ??
    (begins.length === 1 ? begins[0] : undefined)
  );
}

/** Returns true if a shortcut consists of this key, or begins with it. */
export const isShortcutKey = (key: string, own: Record<string, string>): boolean =>
  SHORTCUTS.some((one) => keysOf(one, own).some((keys) => keys === key || keys.startsWith(`${key} `)));

/** File that a choice wrote. */
export interface GateCommit {
  path: string;
  bytes: number | undefined;
}

/** What came of an answer. */
export interface GateOutcome {
  /** Key of the chosen option; null if the user answered in words. */
  chosen: string | null;
  committed: GateCommit[];
  /** Sections that are still to be written. */
  remaining: string[];
}

/** Returns true if the question is a gate. */
export const isGate = (question: Question): boolean => question.kind === 'gate';

/** Reads the result of the call; none if it is not one of a gate. */
export function gateOutcome(result: Payload | undefined): GateOutcome | undefined {
  const read = objectOf(result);
  if (!read) return undefined;
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  return {
    chosen: typeof read.chosen === 'string' ? read.chosen : null,
    committed: list(read.committed).flatMap((one) => {
      const { path, bytes } = one as { path?: unknown; bytes?: unknown };
      return typeof path === 'string' ? [{ path, bytes: typeof bytes === 'number' ? bytes : undefined }] : [];
    }),
    remaining: list(read.remaining).filter((one) => typeof one === 'string'),
  };
}
