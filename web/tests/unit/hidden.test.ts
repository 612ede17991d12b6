import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** Names of the locks that pages hold. */
const held = new Set<string>();
let page: EventTarget & { hidden: boolean };
const stream = { suspend: vi.fn(), resume: vi.fn() };

async function request(name: string, _options: LockOptions, hold: (lock: object | null) => unknown): Promise<void> {
  await Promise.resolve();
  if (held.has(name)) return void (await hold(null));
  held.add(name);
  await hold({});
  held.delete(name);
}

function setHidden(isHidden: boolean): void {
  page.hidden = isHidden;
  page.dispatchEvent(new Event('visibilitychange'));
}

describe('a hidden page', () => {
  beforeEach(() => {
    held.clear();
    page = Object.assign(new EventTarget(), { hidden: false });
    vi.resetModules();
    vi.clearAllMocks();
    vi.stubGlobal('document', page);
    vi.stubGlobal('navigator', { locks: { request } });
  });
  afterEach(() => vi.unstubAllGlobals());

  it('that was opened in the background has no stream if others hold the slots', async () => {
    const { shareConnections } = await import('../../src/lib/api/hidden');
    page.hidden = true;
    held.add('crewagent-hidden-0').add('crewagent-hidden-1');
    await shareConnections(stream);
    expect(stream.suspend).toHaveBeenCalledOnce();
    held.delete('crewagent-hidden-1');
    setHidden(false);
    await vi.waitFor(() => expect(stream.resume).toHaveBeenCalledOnce());
  });

  it('holds one slot, however fast it is shown and hidden', async () => {
    const { shareConnections } = await import('../../src/lib/api/hidden');
    await shareConnections(stream);
    for (const isHidden of [true, false, true, false, true]) setHidden(isHidden);
    await vi.waitFor(() => expect([...held]).toEqual(['crewagent-hidden-0']));
    setHidden(false);
    await vi.waitFor(() => expect([...held]).toEqual([]));
    expect(stream.suspend).not.toHaveBeenCalled();
  });
});
