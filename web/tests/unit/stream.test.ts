import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Stream } from '../../src/lib/api/stream';
import type { Event } from '../../src/lib/api/types';
import { JournalState } from '../../src/lib/state/journal.svelte';
import { journal } from './journals';

afterEach(() => vi.unstubAllGlobals());

describe('a stream', () => {
  const opened: string[] = [];
  beforeEach(() => {
    opened.length = 0;
    vi.stubGlobal(
      'EventSource',
      class {
        constructor(address: string) {
          opened.push(decodeURIComponent(address));
        }
        addEventListener(): void {}
        close(): void {}
      },
    );
  });
  const nothing = (): void => undefined;
  const stream = new Stream({ event: nothing, rewind: nothing, notice: nothing, hello: nothing, link: nothing });

  it('is opened once for several journals, and anew from the place of who looks at one later', async () => {
    for (const id of ['a', 'b', 'c']) stream.follow({ kind: 'run', id }, `run/${id}=1.2.0`);
    stream.unfollow({ kind: 'run', id: 'c' });
    await Promise.resolve();
    expect(opened).toEqual(['/api/events?watch=run/a,run/b&after=run/a=1.2.0,run/b=1.2.0']);
    stream.follow({ kind: 'run', id: 'a' }, 'run/a=1.7.0');
    await Promise.resolve();
    expect(opened.at(-1)).toContain('after=run/a=1.7.0,run/b=1.2.0');
  });

  it('that is suspended opens when it is resumed and not before', async () => {
    stream.suspend();
    stream.open();
    stream.follow({ kind: 'run', id: 'd' }, 'run/d=1.1.0');
    await Promise.resolve();
    expect(opened).toEqual([]);
    stream.resume();
    stream.resume();
    expect(opened).toEqual([expect.stringContaining('run/d=1.1.0')]);
  });
});

describe('a journal', () => {
  const events = journal('called-workflow').filter((event) => event.part === undefined);
  const known = events.slice(0, 5);

  it('asks to be read again when an event is missing, and not when one comes twice', async () => {
    vi.useFakeTimers();
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify({ events: known, cursor: 'run/x=1.5.0', more: false }))));
    const state = new JournalState({ kind: 'run', id: 'x' });
    await state.load();
    state.ongap = vi.fn();
    const take = (...some: (Event | undefined)[]): void => {
      for (const event of some) if (event) state.take(event);
      vi.runAllTimers();
    };
    take(events[4], events[5], events[6]);
    expect([state.view.seq, state.events.length]).toEqual([7, 7]);
    expect(state.ongap).not.toHaveBeenCalled();
    take(events[8]);
    expect(state.ongap).toHaveBeenCalledOnce();
    expect(state.view.seq).toBe(7);
    vi.useRealTimers();
  });
});
