/** What a conversation shows, made of the rows of its journals: runs of reads are one line, journals are one list. */

import type { Row, ToolRow } from './view';

/** Several calls that only looked. */
export interface GroupRow {
  kind: 'group';
  key: string;
  seq: number;
  time: string;
  tools: ToolRow[];
}

export type Shown = (Row | GroupRow) & { journal: string };

const LOOKS = new Set(['fs.read', 'fs.list', 'fs.search']);

const isLook = (row: Row): row is ToolRow => row.kind === 'tool' && LOOKS.has(row.tool) && row.status === 'ok';

/** Joins neighbouring calls that only looked. */
export function group(rows: readonly Row[], journal: string): Shown[] {
  const shown: Shown[] = [];
  let tools: ToolRow[] = [];
  const flush = (): void => {
    const [first] = tools;
    if (!first) return;
    if (tools.length === 1) shown.push({ ...first, journal });
    else shown.push({ kind: 'group', key: first.key, seq: first.seq, time: first.time, tools, journal });
    tools = [];
  };
  for (const row of rows) {
    if (isLook(row)) {
      tools.push(row);
      continue;
    }
    flush();
    shown.push({ ...row, journal });
  }
  flush();
  return shown;
}

/** One list of several, by time. Rows of one journal keep their order. */
export function merge(lists: readonly Shown[][]): Shown[] {
  if (lists.length === 1) return lists[0] ?? [];
  const places = lists.map(() => 0);
  const merged: Shown[] = [];
  for (;;) {
    let best = -1;
    for (let at = 0; at < lists.length; at += 1) {
      const row = lists[at]?.[places[at] ?? 0];
      const leader = best < 0 ? undefined : lists[best]?.[places[best] ?? 0];
      if (row && (!leader || row.time < leader.time)) best = at;
    }
    const row = best < 0 ? undefined : lists[best]?.[places[best] ?? 0];
    if (!row) return merged;
    merged.push(row);
    places[best] = (places[best] ?? 0) + 1;
  }
}
