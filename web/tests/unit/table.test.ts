import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alignments, MOST_ROWS, readRows } from '../../src/lib/table';

describe('rows of a file', () => {
  it.each([
    ['a,b\n1,2\n', [['a', 'b'], ['1', '2']]],
    ['a;b\r\n1,5;2\r\n', [['a', 'b'], ['1,5', '2']]],
    ['a\tb\n1\t2', [['a', 'b'], ['1', '2']]],
    ['"a ""b""","c\nd"\n', [['a "b"', 'c\nd']]],
    ['a,b\n\n1,\n', [['a', 'b'], ['1', '']]],
    ['one\n', [['one']]],
    ['"never closed,1\n2', [['never closed,1\n2']]],
    ['', []],
  ])('%j', (text, rows) => expect(readRows(text)).toEqual({ rows, isCut: false }));

  it('are cut, and said to be', () => {
    const { rows, isCut } = readRows('a,b\n'.repeat(MOST_ROWS + 1));
    expect([rows.length, isCut]).toEqual([MOST_ROWS, true]);
    expect(readRows('a,b\n'.repeat(MOST_ROWS)).isCut).toBe(false);
  });

  it('are what was written', () => {
    const value = fc.stringMatching(/^[a-z",; \n]{1,6}$/);
    fc.assert(
      fc.property(fc.array(fc.array(value, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 }), (rows) => {
        const text = [['x', 'y', 'z'], ...rows].map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(',')).join('\n');
        expect(readRows(text).rows.slice(1)).toEqual(rows);
      }),
      { seed: 7, numRuns: 200 },
    );
  });

  it('have columns of numbers to the right', () => {
    expect(alignments([['name', 'count', 'share', 'none'], ['a', '1', '12.5 %', ''], ['7', '-2,000', '3%', 'x']])).toEqual([null, 'right', 'right', null]);
    expect(alignments([['a']])).toEqual([null]);
  });
});
