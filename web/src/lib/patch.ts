/** Lines of a difference, for tool cards and the Changes tab. */

import type { Payload } from './api/types';
import { objectOf } from './payload';

export interface DiffLine {
  kind: 'same' | 'add' | 'del' | 'gap';
  /** Line number in the new file, or in the old one for a deleted line. */
  number: number | undefined;
  text: string;
}

export interface Difference {
  lines: DiffLine[];
  added: number;
  removed: number;
}

export function countLines(lines: DiffLine[]): Difference {
  const count = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind === kind).length;
  return { lines, added: count('add'), removed: count('del') };
}

/** Returns true if a file header starts here. Inside a hunk the same characters are a deleted and an added line. */
const isHead = (all: readonly string[], at: number): boolean =>
  all[at]?.startsWith('--- ') === true && all[at + 1]?.startsWith('+++ ') === true && all[at + 2]?.startsWith('@@') === true;

/** Parses a unified diff or the `*** Begin Patch` form leniently, for display only. Keeps every line of a hunk. */
export function readDiff(text: string): Difference {
  const lines: DiffLine[] = [];
  const all = text.split('\n');
  const isUnified = !text.startsWith('*** ');
  let [old, now, numbered] = [0, 0, false];
  // Lines that the hunk still has in the old and the new file.
  let [goes, comes] = [0, 0];
  for (let at = 0; at < all.length; at += 1) {
    const line = all[at] ?? '';
    const isInside = goes > 0 || comes > 0;
    if (line.startsWith('@@')) {
      const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(line);
      [old, now, numbered] = [Number(header?.[1] ?? 0), Number(header?.[3] ?? 0), header !== null];
      [goes, comes] = header ? [Number(header[2] ?? 1), Number(header[4] ?? 1)] : [0, 0];
      if (lines.length > 0) lines.push({ kind: 'gap', number: undefined, text: '' });
    } else if (isUnified && !isInside && isHead(all, at)) at += 1;
    else if (line.startsWith('+')) {
      lines.push({ kind: 'add', number: numbered ? now++ : undefined, text: line.slice(1) });
      comes -= 1;
    } else if (line.startsWith('-')) {
      lines.push({ kind: 'del', number: numbered ? old++ : undefined, text: line.slice(1) });
      goes -= 1;
    } else if (line.startsWith(' ') || (line === '' && goes > 0 && comes > 0)) {
      lines.push({ kind: 'same', number: numbered ? now++ : undefined, text: line.slice(1) });
      [old, goes, comes] = [old + 1, goes - 1, comes - 1];
    }
  }
  return countLines(lines);
}

function wholeText(kind: 'add' | 'del', text: string, numbered: boolean): DiffLine[] {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line, at) => ({ kind, number: numbered ? at + 1 : undefined, text: line }));
}

/** Lists the lines of a replacement. The common lines at both ends are unchanged. */
function replacementLines(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const most = Math.min(old.length, now.length);
  let [start, end] = [0, 0];
  while (start < most && old[start] === now[start]) start += 1;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const lines = (kind: DiffLine['kind'], texts: string[]): DiffLine[] => texts.map((text) => ({ kind, number: undefined, text }));
  return [
    ...lines('same', old.slice(0, start)),
    ...lines('del', old.slice(start, old.length - end)),
    ...lines('add', now.slice(start, now.length - end)),
    ...lines('same', old.slice(old.length - end)),
  ];
}

/** Returns the change that the arguments of a file tool describe; none for other tools, or if the arguments are a blob. */
export function changeOf(tool: string, args: Payload | undefined): Difference | undefined {
  const object = objectOf(args);
  if (!object) return undefined;
  if (tool === 'fs.write' && typeof object.content === 'string') {
    return countLines(wholeText('add', object.content, object.mode !== 'append'));
  }
  if (tool !== 'fs.apply_patch') return undefined;
  if (typeof object.diff === 'string') return readDiff(object.diff);
  if (!Array.isArray(object.edits)) return undefined;
  const lines = object.edits.flatMap((edit: { old?: unknown; new?: unknown }, at) => {
    const own = replacementLines(String(edit.old ?? ''), String(edit.new ?? ''));
    return at > 0 ? [{ kind: 'gap' as const, number: undefined, text: '' }, ...own] : own;
  });
  return countLines(lines);
}
