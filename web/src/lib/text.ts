/** Texts that others wrote, on their way into the page. */

/** Controls, and what turns letters around. Joiners stay: emoji and some scripts need them. */
const TURNING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name as it is, not as it wants to look. */
export const visible = (text: string): string => text.replace(TURNING, '\ufffd');

/** The same for everything in an answer that is only shown. */
export function sanitize<T>(value: T): T {
  if (typeof value === 'string') return visible(value) as T;
  if (Array.isArray(value)) return value.map(sanitize) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, sanitize(inner)])) as T;
}
