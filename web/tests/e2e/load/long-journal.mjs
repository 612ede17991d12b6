/** Very long journals, made of records that the program wrote. */

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the journal of a run is. */
async function journalOf(home, run) {
  const all = await readdir(home, { recursive: true });
  const found = all.find((name) => name.includes(run) && name.endsWith('execution.jsonl'));
  return join(home, found);
}

/**
 * Repeats the last exchange of a run until it has so many messages, with numbers that go on. The program must not be
 * running: it reads the journal when it starts to use it. Gives how many messages there are.
 */
export async function lengthen(home, run, messages) {
  const path = await journalOf(home, run);
  const text = await readFile(path, 'utf8');
  const records = text.trimEnd().split('\n').map((line) => JSON.parse(line));
  const begin = records.findLastIndex((record) => record.type === 'user.input');
  const cycle = records.slice(begin);
  const isMessage = (record) => record.type === 'user.input' || record.type === 'assistant.message';
  const turns = cycle.filter((record) => record.type === 'turn.started').length;
  let count = records.filter(isMessage).length;
  const lines = [];
  for (let round = 1; count < messages; round += 1) {
    for (const record of cycle) {
      lines.push(JSON.stringify(renumbered(record, round, cycle.length, turns)));
      if (isMessage(record)) count += 1;
    }
  }
  await writeFile(path, `${text}${lines.join('\n')}\n`);
  return count;
}

/** The same record some rounds later. */
function renumbered(record, round, records, turns) {
  const moved = { ...record, seq: record.seq + round * records };
  if (record.turn === undefined) return record.type === 'user.input' ? { ...moved, text: `Go on, round ${round}` } : moved;
  const turn = record.turn + round * turns;
  const renamed = (id) => id.replace(`call_${record.turn}_`, `call_${turn}_`);
  moved.turn = turn;
  if (record.key) {
    const [input, kind, , call] = record.key.split('/');
    moved.key = [`t${Number(input.slice(1)) + round}`, kind, turn, ...(call ? [renamed(call)] : [])].join('/');
  }
  if (record.callId) moved.callId = renamed(record.callId);
  if (record.toolCalls) moved.toolCalls = record.toolCalls.map((call) => ({ ...call, id: renamed(call.id) }));
  if (record.content) moved.content = record.content.replace(/^Entry \d+/, `Entry ${turn}`);
  return moved;
}
