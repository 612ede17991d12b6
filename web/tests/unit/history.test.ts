/** The page folds every golden journal to the history that the runtime folds it to. */

import { expect, test } from 'vitest';
import type { Event, RunState, Usage } from '../../src/lib/api/types';
import { activeFrame, reduce } from '../../src/lib/reduce';
import { emptyView } from '../../src/lib/view';

interface History {
  state: RunState;
  frames: { workflowId: string; nodeId: string; call: number }[];
  visits: { seq: number; node: string; label: string | null; call: number | null }[];
  phase: string | null;
  question: string | null;
  usage: Usage;
}

const root = '../../../crates/core/tests/history';
const journals = import.meta.glob<string>('../../../crates/core/tests/history/*.jsonl', { query: '?raw', import: 'default', eager: true });
const histories = import.meta.glob<string>('../../../crates/core/tests/history/*.json', { query: '?raw', import: 'default', eager: true });
const names = Object.keys(journals).map((path) => path.slice(root.length + 1, -'.jsonl'.length));

test('there are journals', () => expect(names.length).toBeGreaterThanOrEqual(20));

test.each(names)('%s', (name) => {
  const lines = (journals[`${root}/${name}.jsonl`] ?? '').trimEnd().split('\n');
  const history = JSON.parse(histories[`${root}/${name}.json`] ?? '') as History;
  const view = reduce(emptyView(), lines.map((line) => JSON.parse(line) as Event));
  const open = view.frames.filter((frame) => !frame.over);
  expect(open.map(({ workflowId, nodeId, call }) => ({ workflowId, nodeId, call }))).toEqual(history.frames);
  expect(view.visits.map(({ seq, nodeId, label, call }) => ({ seq, node: nodeId, label: label ?? null, call: call ?? null }))).toEqual(history.visits);
  if (view.started?.workflow !== undefined) expect(view.states[activeFrame(view)]).toEqual(history.state);
  expect(view.phase).toEqual(history.phase);
  expect(view.question?.callId ?? null).toEqual(history.question);
  expect(view.usage).toMatchObject({ inputTokens: history.usage.inputTokens, outputTokens: history.usage.outputTokens });
});
