/** What a run is held to, as somebody typed it. */

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

/** Rules stand in lines or between commas; a folder in brackets may have a comma in its name. */
const rules = (text: string): string[] => (text.match(/[^,\n(]+(\([^)\n]*\)?)?/g) ?? []).map((rule) => rule.trim()).filter(Boolean);

/** A limit that was left empty is as the settings say. */
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

/** A variable: JSON where it is JSON, else the text. A number that JSON would write otherwise, such as 1.10, stays a text. */
export function valueOf(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === 'number' && JSON.stringify(value) !== text ? text : value;
  } catch {
    return text;
  }
}
