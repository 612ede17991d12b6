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

/** Row of the list. Its `id` is unique and stable. `times` counts rows that say the same, of which the last is shown. */
export type Shown = (Row | GroupRow) & { journal: string; id: string; times?: number };

const LOOKS = new Set(['fs.read', 'fs.list', 'fs.search']);

const isLook = (row: Row): row is ToolRow => row.kind === 'tool' && LOOKS.has(row.tool) && row.status === 'ok';

/** Notes that come again and again while something goes wrong. */
const REPEATED = new Set(['retried', 'held', 'nudged']);

/** Returns true if a row says the same as the one before it. */
function repeats(before: Shown | undefined, row: Row): boolean {
  if (before?.kind === 'note' && row.kind === 'note') {
    return REPEATED.has(row.topic) && before.topic === row.topic && (row.topic === 'retried' || before.subject === row.subject);
  }
  if (before?.kind !== 'tool' || row.kind !== 'tool' || row.refused === undefined) return false;
  return before.tool === row.tool && before.refused === row.refused && before.subject === row.subject;
}

/** Returns true if other rows say the same: a run that is started in a conversation has a row of its own. */
function isSilent(row: Row, inConversation: boolean): boolean {
  if (row.kind === 'command') return row.command === 'StartWorkflow' && !row.error && row.choices.length === 0;
  return inConversation && row.kind === 'note' && row.topic === 'started';
}

/** Rows of a journal with the list that they give, and the index of the first row of each entry. */
export interface Grouped {
  rows: readonly Row[];
  shown: Shown[];
  starts: readonly number[];
}

export const NOTHING: Grouped = { rows: [], shown: [], starts: [] };

/** Groups rows from an index on: consecutive calls that only read, and rows that say the same. */
function groupFrom(from: number, rows: readonly Row[], journal: string, inConversation: boolean): Grouped {
  const shown: Shown[] = [];
  const starts: number[] = [];
  let tools: ToolRow[] = [];
  const show = (row: Row | GroupRow, at: number): void => {
    shown.push({ ...row, journal, id: `${journal}/${row.key}` });
    starts.push(at);
  };
  const flush = (at: number): void => {
    const [first] = tools;
    if (!first) return;
    if (tools.length === 1) show(first, at - 1);
    else show({ kind: 'group', key: first.key, seq: first.seq, time: first.time, tools }, at - tools.length);
    tools = [];
  };
  for (let at = from; at < rows.length; at += 1) {
    const row = rows[at] as Row;
    if (isLook(row)) {
      tools.push(row);
      continue;
    }
    flush(at);
    const before = shown.at(-1);
    if (before && repeats(before, row)) {
      const { key, seq, time, id, times = 1 } = before;
      shown[shown.length - 1] = { ...row, key, seq, time, id, journal, times: times + 1 };
    } else if (!isSilent(row, inConversation)) show(row, at);
  }
  flush(rows.length);
  return { rows, shown, starts };
}

/** Groups all rows of a journal. */
export const group = (rows: readonly Row[], journal: string, inConversation = false): Shown[] => groupFrom(0, rows, journal, inConversation).shown;

/** Groups rows incrementally. Unchanged rows stay the same values, so that the page does not render them again. */
export function regroup(before: Grouped, rows: readonly Row[], journal: string, inConversation = false): Grouped {
  if (before.rows === rows) return before;
  let same = 0;
  while (same < rows.length && before.rows[same] === rows[same]) same += 1;
  let reused = before.shown.length;
  const endOf = (at: number): number => before.starts[at + 1] ?? before.rows.length;
  while (reused > 0 && endOf(reused - 1) > same) reused -= 1;
  // The last one may take in what follows.
  const last = before.shown[reused - 1];
  if (last && (last.kind === 'group' || last.kind === 'tool' || last.kind === 'note')) reused -= 1;
  const from = before.starts[reused] ?? (reused === 0 ? 0 : same);
  const more = groupFrom(from, rows, journal, inConversation);
  return { rows, shown: before.shown.slice(0, reused).concat(more.shown), starts: before.starts.slice(0, reused).concat(more.starts) };
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
