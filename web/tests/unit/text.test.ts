import { describe, expect, it } from 'vitest';
import { ago, setLanguage } from '../../src/lib/i18n/index.svelte';
import { sanitize, visible } from '../../src/lib/text';

describe('texts of others', () => {
  it('cannot turn letters around or hide', () => {
    expect(visible('safe\u202Eexe.md')).toBe('safe\uFFFDexe.md');
    expect(visible('a\u2066b\u2069c\u200Fd\u0000e\u001B[1m')).toBe('a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFD[1m');
  });

  it('keep lines, tabs, and what emoji and scripts are joined with', () => {
    for (const text of ['one\n\ttwo', '👩‍👩‍👧‍👦', 'می\u200Cخواهم', '中文', 'שלום']) expect(visible(text)).toBe(text);
  });

  it('are cleaned wherever they stand in an answer', () => {
    expect(sanitize({ a: ['\u202E'], b: { c: 'x\u202E' }, d: 1, e: null, f: true })).toEqual({ a: ['\uFFFD'], b: { c: 'x\uFFFD' }, d: 1, e: null, f: true });
  });
});

describe('ages', () => {
  it('are never in the future', async () => {
    await setLanguage('en');
    const now = Date.parse('2026-01-01T12:00:00Z');
    expect(ago('2026-01-01T11:00:00Z', now)).toMatch(/1 hr?\. ago|1 hour ago/);
    expect(ago('2026-01-01T19:00:00Z', now)).toBe('now');
  });
});
