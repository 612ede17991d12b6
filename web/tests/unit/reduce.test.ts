import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/lib/api/types';
import { activeFrame, reduce } from '../../src/lib/reduce';
import { group, type Grouped, NOTHING, regroup } from '../../src/lib/rows';
import { emptyView, type View } from '../../src/lib/view';
import { listFiles } from '../../src/run/artifacts';
import { journal, NAMES } from './journals';

const SEED = { seed: 7, numRuns: 60 };
const whole = (events: Event[]): Event[] => events.filter((event) => event.type !== 'assistant.delta');

/** Splits the events at the cuts. */
function inPieces(events: Event[], cuts: number[]): View {
  const offsets = [...new Set(cuts.map((cut) => cut % (events.length + 1)))].sort((one, other) => one - other);
  let [view, from] = [emptyView(), 0];
  for (const to of [...offsets, events.length]) {
    view = reduce(view, events.slice(from, to));
    from = to;
  }
  return view;
}

describe.each(NAMES)('the view of %s', (name) => {
  const events = journal(name);

  it('does not depend on how its events were cut into pieces', () => {
    const at_once = reduce(emptyView(), events);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
        expect(inPieces(events, cuts)).toEqual(at_once);
      }),
      SEED,
    );
  });

  it('is shown as if it were grouped at once, and rows that did not change stay the same values', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(events.length), { maxLength: 12 }), (cuts) => {
        let [view, grouped, from]: [View, Grouped, number] = [emptyView(), NOTHING, 0];
        for (const to of [...new Set(cuts), events.length].sort((one, other) => one - other)) {
          const before = grouped;
          view = reduce(view, events.slice(from, to));
          grouped = regroup(before, view.rows, 'run');
          from = to;
          const kept = new Set<object>(before.rows.filter((row, at) => row === view.rows[at]));
          const seen = new Map(before.shown.map((row) => [row.id, row]));
          expect(grouped.shown).toEqual(group(view.rows, 'run'));
          for (const row of grouped.shown.slice(0, -1)) {
            const own = view.rows.find((one) => one.key === row.key);
            if (row.kind === 'reply' && own && kept.has(own)) expect(row).toBe(seen.get(row.id));
          }
        }
      }),
      SEED,
    );
  });

  it('is the same live and from the journal, in which there are no pieces of replies', () => {
    expect(reduce(emptyView(), events)).toEqual(reduce(emptyView(), whole(events)));
  });

  it('does not change when events come twice', () => {
    const at_once = reduce(emptyView(), events);
    fc.assert(
      fc.property(fc.nat(events.length), fc.nat(events.length), (one, other) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const again = [...events.slice(0, to), ...events.slice(from)];
        expect(reduce(emptyView(), again)).toEqual(at_once);
      }),
      SEED,
    );
  });

  it('goes on after a cut in the middle of a reply', () => {
    const at_once = reduce(emptyView(), events);
    fc.assert(
      fc.property(fc.nat(events.length), (cut) => {
        const before = reduce(emptyView(), events.slice(0, cut));
        // A reload: the journal up to here, then everything after it.
        const fresh = reduce(emptyView(), whole(events.slice(0, cut)));
        const rest = events.filter((event) => event.seq > fresh.seq);
        expect(reduce(fresh, rest)).toEqual(at_once);
        expect(fresh.rows).toEqual(before.rows);
      }),
      SEED,
    );
  });

  it('never changes a view that was given', () => {
    fc.assert(
      fc.property(fc.nat(events.length - 1), (cut) => {
        const before = reduce(emptyView(), events.slice(0, cut));
        const copy = structuredClone(before);
        reduce(before, events.slice(cut));
        expect(before).toEqual(copy);
      }),
      SEED,
    );
  });

  it('has keys that are told apart', () => {
    const keys = reduce(emptyView(), events).rows.map((row) => row.key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('rows', () => {
  it('a question is answered in its own row and stays', () => {
    const { rows, question } = reduce(emptyView(), journal('every-question'));
    const asks = rows.filter((row) => row.kind === 'ask');
    expect(asks.map((row) => row.question.kind)).toEqual(['choice', 'choice', 'confirm', 'form', 'text']);
    expect(asks.every((row) => row.answer !== undefined)).toBe(true);
    expect(question).toBeNull();
  });

  it('words that are no answer leave the question open, with the reason', () => {
    const events = journal('every-question');
    const at = events.findIndex((event) => event.type === 'user.input');
    const [asked, input] = [events.slice(0, at), events[at] as Event];
    const why = '"x" is not one of the options.';
    const again = { ...input, seq: input.seq + 1, type: 'phase.changed', phase: 'WaitingUser', reason: 'question', message: why } as Event;
    const open = reduce(emptyView(), [...asked, { ...input, text: 'x' } as Event, again]);
    expect(open.question).toMatchObject({ answer: undefined, refused: { text: 'x', why } });
    expect(open.rows.filter((row) => row.kind === 'ask')).toEqual([open.question]);
    const over = reduce(open, [{ ...input, seq: input.seq + 2, text: 'x' } as Event]);
    expect(over.question).toBeNull();
    expect(over.rows.find((row) => row.kind === 'ask')).toMatchObject({ answer: 'x', refused: undefined });
  });

  it('what had come of a reply when it was stopped stays, and the next reply is another row', () => {
    const events = journal('every-question');
    const at = events.findIndex((event) => event.type === 'assistant.message');
    const [before, reply] = [events.slice(0, at), events[at] as Event];
    const piece = { ...reply, type: 'assistant.delta', turn: 1, part: 1, text: 'I look' } as unknown as Event;
    const stop = { ...reply, type: 'model.stopped', turn: 1, by: 'user', partial: 'I look' } as unknown as Event;
    const stopped = reduce(reduce(emptyView(), [...before, piece]), [stop]);
    expect(stopped.live).toBeNull();
    expect(stopped.rows.at(-1)).toMatchObject({ kind: 'reply', text: 'I look', cut: 'user', turn: 1 });
    const on = reduce(stopped, [{ ...reply, seq: reply.seq + 1 } as Event]);
    expect(on.rows.filter((row) => row.kind === 'reply').map((row) => row.cut)).toEqual(['user', undefined]);
    expect(new Set(on.rows.map((row) => row.key)).size).toBe(on.rows.length);
  });

  describe('a question that is given up', () => {
    const events = journal('every-question');
    const asked = reduce(emptyView(), events.slice(0, events.findIndex((event) => event.type === 'user.input')));
    const next = { seq: asked.seq + 1, time: asked.time };
    const state = asked.states[0];

    it.each([
      ['something else was chosen from the menu', { type: 'session.instructed', subject: 'prompt #idea', texts: ['Do it.'] }],
      ['the model is asked again', { type: 'turn.started', turn: 9 }],
      ['the run stands elsewhere now', { type: 'run.resumed', state }],
    ])('waits for no answer: %s', (_, event) => {
      expect(asked.question).not.toBeNull();
      const view = reduce(asked, [{ ...event, ...next } as Event]);
      expect([view.question, view.open]).toEqual([null, {}]);
      expect(view.rows.find((row) => row.kind === 'ask')).toMatchObject({ answer: undefined });
    });

    it('waits on where the run only goes on', () => {
      const view = reduce(asked, [{ type: 'run.resumed', ...next } as Event]);
      expect(view.question).toBe(asked.question);
    });
  });

  it('thoughts and words of a reply are one row', () => {
    const reply = reduce(emptyView(), journal('every-question')).rows.find((row) => row.kind === 'reply');
    expect(reply).toMatchObject({ thinking: expect.stringContaining('before I ask'), text: 'I look at what is there first.' });
  });

  it('a refused call says so, and a move is told with the call that made it', () => {
    const tools = reduce(emptyView(), journal('every-question')).rows.filter((row) => row.kind === 'tool');
    expect(tools.find((row) => row.refused === 'E_INVALID_TRANSITION')).toMatchObject({ status: 'refused' });
    expect(tools.find((row) => row.moved)?.moved).toMatchObject({ from: 'step-01-intake', to: 'decide-02-project-type' });
  });

  it('a called workflow has its own place, and its caller is found again', () => {
    const events = journal('called-workflow');
    const entered = events.findIndex((event) => event.type === 'workflow.entered');
    const inside = reduce(emptyView(), events.slice(0, entered + 1));
    expect(activeFrame(inside)).toBe(1);
    expect(inside.states[1]?.currentNodeId).toBe('step-01-read');
    const after = reduce(emptyView(), events);
    expect(after.frames[0]?.over).toBe(true);
    expect(after.states[0]?.stepsCompleted.length).toBeGreaterThan(0);
  });

  it('a reply in progress is void when the request is made again', () => {
    const events = journal('every-question');
    const at = events.findIndex((event) => event.type === 'assistant.delta');
    const started = reduce(emptyView(), events.slice(0, at + 2));
    expect(`${started.live?.text}${started.live?.thinking}`).not.toBe('');
    const retried = reduce(started, [
      { type: 'model.retried', turn: 1, attempt: 1, waitMs: 10, message: 'Busy.', seq: started.seq + 1, time: started.time },
    ]);
    expect(retried.live).toMatchObject({ text: '', thinking: '' });
  });

  it('a reminder to the model is a note of its own', () => {
    const time = '2026-11-15T09:49:46.935Z';
    const view = reduce(emptyView(), [{ type: 'model.nudged', turn: 1, kind: 'no-call', seq: 1, time }]);
    expect(view.rows).toMatchObject([{ kind: 'note', topic: 'nudged', subject: 'no-call' }]);
  });

  it('a model that stands in is noted, and a reply of the one that failed is void', () => {
    const events = journal('every-question');
    const at = events.findIndex((event) => event.type === 'assistant.delta');
    const started = reduce(emptyView(), events.slice(0, at + 2));
    const { time } = started;
    const fell = reduce(started, [
      { type: 'model.fellback', turn: 1, tier: 'fast', model: 'small', message: 'No key.', seq: started.seq + 1, time },
      { type: 'model.fellback', turn: 1, tier: 'review', seq: started.seq + 2, time },
    ]);
    expect(fell.live).toBeNull();
    expect(fell.rows.slice(-2)).toMatchObject([
      { kind: 'note', topic: 'fellBack', subject: 'small', detail: ['No key.'] },
      { kind: 'note', topic: 'noTier', subject: 'review' },
    ]);
  });

  it('kinds of events that are not known are let pass', () => {
    const view = reduce(emptyView(), [{ type: 'of.tomorrow', seq: 1, time: '2026-11-15T09:49:46.935Z' } as unknown as Event]);
    expect(view.seq).toBe(1);
    expect(view.rows).toEqual([]);
  });
});

describe('a command', () => {
  const head = { time: '2026-11-15T09:00:00.000Z', runId: 'r' };
  const resolved = (command: string): Event =>
    ({ ...head, seq: 1, type: 'command.resolved', text: 'hello', command, confidence: 'low', reason: 'nothing in the menu matches' }) as unknown as Event;
  const input = { ...head, seq: 2, type: 'user.input', text: 'hello' } as unknown as Event;
  const kinds = (events: Event[]): string[] => reduce(emptyView(), events).rows.map((row) => row.kind);

  it('is shown with its text, and conversation once, as what the user said', () => {
    expect(kinds([resolved('ShowMenu')])).toEqual(['user', 'command']);
    expect(kinds([resolved('Chat'), input])).toEqual(kinds([input]));
  });
});

describe('a run that goes on from another one', () => {
  it('stands inside of the call that it was forked in', () => {
    const [started] = journal('called-workflow');
    if (started?.type !== 'run.started') throw new Error('a run begins with its start');
    const inside = { ...started.state, currentNodeId: 'step-01-read' };
    const caller = { workflowId: 'document-review', nodeId: 'call-02-review-notes', call: 1, state: started.state };
    const view = reduce(emptyView(), [{ ...started, state: inside, forkedFrom: { run: 'other', event: 11, callers: [caller], calls: 1 } }]);
    expect(activeFrame(view)).toBe(1);
    expect([view.states[0], view.states[1]]).toEqual([started.state, inside]);
    expect(view.visits.map(({ nodeId, call }) => [nodeId, call])).toEqual([['step-01-read', 1]]);
    expect(view.rows).toMatchObject([{ kind: 'note', topic: 'forked', subject: 'other' }]);
  });
});

describe('artifacts', () => {
  const head = { time: '2026-11-15T09:00:00.000Z', runId: 'r' };
  const finished = (seq: number, more: object): Event =>
    ({ ...head, seq, type: 'tool.finished', turn: 1, callId: `c${seq}`, tool: 'fs.write', result: '{"ok":true}', ...more }) as unknown as Event;
  const changed = (seq: number, artifacts: string[], more: object = {}): Event =>
    ({ ...head, seq, type: 'state.changed', state: { currentNodeId: 'a', stepsCompleted: [], variables: {}, decisions: 0, artifacts, complete: false }, ...more }) as unknown as Event;
  const paths = (events: Event[]): string[] => reduce(emptyView(), events).artifacts.map((one) => one.path);

  it('leave out a copy that the state does not list', () => {
    const events = [finished(1, { created: ['copy.md'] }), finished(2, { created: ['x.md'] })];
    expect(paths(events)).toEqual(['copy.md', 'x.md']);
    expect(paths([...events, changed(3, ['x.md'])])).toEqual(['x.md']);
  });

  it('leave out a file that was moved or deleted', () => {
    const events = [finished(1, { created: ['a.md'] }), changed(2, ['a.md'])];
    const moved = finished(3, { tool: 'fs.move', created: ['b.md'], wrote: [{ path: 'b.md', sha256: '1' }, { path: 'a.md' }] });
    expect(paths([...events, moved, changed(4, ['b.md'])])).toEqual(['b.md']);
  });

  it('are listed with everything else that the run wrote, and how', () => {
    const wrote = (seq: number, path: string, before?: string, after?: string, more: object = {}): Event[] => [
      { ...head, seq, type: 'tool.started', turn: 1, callId: `c${seq + 1}`, tool: 'fs.write', intent: { files: [{ path: `@project/${path}`, before, after }] } } as unknown as Event,
      finished(seq + 1, more),
    ];
    const view = reduce(emptyView(), [
      changed(1, ['artifacts/old.md', 'artifacts/kept.md']),
      ...wrote(2, 'artifacts/new.md', undefined, '1', { created: ['artifacts/new.md'] }),
      ...wrote(4, 'artifacts/old.md', '1', '2', { created: ['artifacts/old.md'] }),
      ...wrote(6, 'artifacts/copy.md', undefined, '1', { created: ['artifacts/copy.md'] }),
      ...wrote(8, 'src/a.ts', '1', '2'),
      ...wrote(10, 'src/gone.ts', '1', '2'),
      ...wrote(12, 'src/gone.ts', '2', undefined),
      ...wrote(14, 'src/refused.ts', '1', '2', { refused: 'E_X' }),
      changed(16, ['artifacts/new.md', 'artifacts/old.md', 'artifacts/kept.md']),
    ]);
    expect(listFiles(view).map(({ path, mark }) => `${path} ${mark}`)).toEqual(['artifacts/old.md changed', 'artifacts/new.md created', 'src/a.ts changed', 'artifacts/kept.md before']);
  });

  it('show which old files a call keeps', () => {
    const rows = reduce(emptyView(), [finished(1, {}), changed(2, [], { kept: ['x.md'] })]).rows;
    expect(rows.map((row) => row.kind === 'tool' && row.kept)).toEqual([['x.md']]);
  });
});
