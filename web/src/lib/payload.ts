/** Texts of events, and the JSON in them. */

import type { Payload } from './api/types';
import { bytes } from './i18n/index.svelte';

/** The text, if it stands in the event itself. */
export const textOf = (payload: Payload | null | undefined): string | undefined =>
  typeof payload === 'string' ? payload : undefined;

/** The JSON object in a text; none when it is something else. */
export function objectOf(payload: Payload | null | undefined): Record<string, unknown> | undefined {
  const text = textOf(payload);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** JSON with line breaks, or the text as it is. */
export function pretty(payload: Payload | null | undefined): string {
  if (payload === undefined || payload === null) return '';
  if (typeof payload !== 'string') return `(${bytes(payload.bytes)})`;
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
