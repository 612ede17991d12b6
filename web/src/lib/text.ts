/** Sanitising of text from packages, models and files. */

/** Control and bidi characters. Joiners are allowed: emoji and some scripts need them. */
const TURNING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces characters that would disguise a name or reorder its neighbours. */
export const visible = (text: string): string => text.replace(TURNING, '\ufffd');

/** Applies `visible` to every string of a response that is only displayed. */
export function sanitize<T>(value: T): T {
  if (typeof value === 'string') return visible(value) as T;
  if (Array.isArray(value)) return value.map(sanitize) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, sanitize(inner)])) as T;
}
