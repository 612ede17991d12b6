/** The list of a conversation: consecutive reads become one row, and the rows of all its journals one list. */

import type { Row, ToolRow } from './view';

/** Consecutive calls that only read. */
export interface GroupRow {
  kind: 'group';
  key: string;
  seq: number;
  time: string;
  tools: ToolRow[];
}

/** Row of the list. Its `id` is unique and stable. */
export type Shown = (Row | GroupRow) & { journal: string; id: string };

const LOOKS = new Set(['fs.read', 'fs.list', 'fs.search']);

const isLook = (row: Row): row is ToolRow => row.kind === 'tool' && LOOKS.has(row.tool) && row.status === 'ok';

/** Groups consecutive calls that only read. */
export function group(rows: readonly Row[], journal: string): Shown[] {
  const shown: Shown[] = [];
  let tools: ToolRow[] = [];
  const show = (row: Row | GroupRow): void => void shown.push({ ...row, journal, id: `${journal}/${row.key}` });
  const flush = (): void => {
    const [first] = tools;
    if (!first) return;
    if (tools.length === 1) show(first);
    else show({ kind: 'group', key: first.key, seq: first.seq, time: first.time, tools });
    tools = [];
  };
  for (const row of rows) {
    if (isLook(row)) {
      tools.push(row);
      continue;
    }
    flush();
    show(row);
  }
  flush();
  return shown;
}

/** Rows of a journal with the list that they give. */
export interface Grouped {
  rows: readonly Row[];
  shown: Shown[];
}

/** Groups rows incrementally. Unchanged rows stay the same values, so that the page does not render them again. */
export function regroup(before: Grouped, rows: readonly Row[], journal: string): Grouped {
  if (before.rows === rows) return before;
  let same = 0;
  while (same < rows.length && before.rows[same] === rows[same]) same += 1;
  let [reused, covered] = [before.shown.length, before.rows.length];
  for (; reused > 0; reused -= 1) {
    const last = before.shown[reused - 1];
    if (!last) break;
    // The next call may join a call that only read.
    if (covered <= same && last.kind !== 'group' && !isLook(last)) break;
    covered -= last.kind === 'group' ? last.tools.length : 1;
  }
  return { rows, shown: before.shown.slice(0, reused).concat(group(rows.slice(covered), journal)) };
}

/** Merges lists by time. Rows of one journal keep their order. */
export function merge(lists: readonly Shown[][]): Shown[] {
  if (lists.length === 1) return lists[0] ?? [];
  const offsets = lists.map(() => 0);
  const merged: Shown[] = [];
  for (;;) {
    let best = -1;
    for (let at = 0; at < lists.length; at += 1) {
      const row = lists[at]?.[offsets[at] ?? 0];
      const leader = best < 0 ? undefined : lists[best]?.[offsets[best] ?? 0];
      if (row && (!leader || row.time < leader.time)) best = at;
    }
    const row = best < 0 ? undefined : lists[best]?.[offsets[best] ?? 0];
    if (!row) return merged;
    merged.push(row);
    offsets[best] = (offsets[best] ?? 0) + 1;
  }
}
