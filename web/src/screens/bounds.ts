/** Bounds of a run, from the fields of the form. */

import type { Bounds, JsonValue, Mode } from '../lib/api/types';

export interface BoundsInput {
  mode: Mode;
  strict: boolean;
  askWrites: boolean;
  turns: string;
  minutes: string;
  tokens: string;
  cost: string;
  ask: string;
  deny: string;
}

export const emptyBounds = (): BoundsInput => ({
  mode: 'autopilot',
  strict: false,
  askWrites: false,
  turns: '',
  minutes: '',
  tokens: '',
  cost: '',
  ask: '',
  deny: '',
});

/** Splits rules at lines and commas. A folder in brackets may contain a comma. */
const rules = (text: string): string[] => (text.match(/[^,\n(]+(\([^)\n]*\)?)?/g) ?? []).map((rule) => rule.trim()).filter(Boolean);

/** Converts the input to bounds. The settings decide limits that are left empty. */
export function boundsOf({ mode, strict, askWrites, turns, minutes, tokens, cost, ask, deny }: BoundsInput): Bounds {
  return {
    mode,
    strict,
    tools: { askWrites, ask: rules(ask), deny: rules(deny) },
    ...(turns && { maxTurns: Number(turns) }),
    ...(minutes && { maxSeconds: Math.ceil(Number(minutes) * 60) }),
    ...(tokens && { maxTokens: Number(tokens) }),
    ...(cost && { maxCost: Number(cost) }),
  };
}

/** Parses a variable: JSON, or plain text. A number that would not round-trip, such as 1.10, stays text. */
export function valueOf(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === 'number' && JSON.stringify(value) !== text ? text : value;
  } catch {
    return text;
  }
}
