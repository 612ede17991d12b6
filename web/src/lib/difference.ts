/** Line difference of two whole texts. */

import { structuredPatch } from 'diff';
import { countLines, type Difference, type DiffLine } from './patch';

const CONTEXT = 3;

export function difference(before: string, after: string): Difference {
  const lines: DiffLine[] = [];
  const patch = structuredPatch('', '', before, after, '', '', { context: CONTEXT });
  patch.hunks.forEach((hunk, at) => {
    if (at > 0) lines.push({ kind: 'gap', number: undefined, text: '' });
    let [old, now] = [hunk.oldStart, hunk.newStart];
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line.startsWith('+')) lines.push({ kind: 'add', number: now++, text });
      else if (line.startsWith('-')) lines.push({ kind: 'del', number: old++, text });
      else if (line.startsWith(' ')) {
        lines.push({ kind: 'same', number: now++, text });
        old += 1;
      }
    }
  });
  return countLines(lines);
}
