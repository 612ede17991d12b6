/** Payloads of events: plain texts, JSON, references to blobs. */

import type { Payload } from './api/types';
import { bytes } from './i18n/index.svelte';

/** Returns the text if the event holds it inline. */
export const textOf = (payload: Payload | null | undefined): string | undefined =>
  typeof payload === 'string' ? payload : undefined;

/** Parses a JSON object; none if the text is anything else. */
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

/** Indents JSON, and returns other text unchanged. */
export function pretty(payload: Payload | null | undefined): string {
  if (payload === undefined || payload === null) return '';
  if (typeof payload !== 'string') return `(${bytes(payload.bytes)})`;
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
