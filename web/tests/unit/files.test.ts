import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setLanguage } from '../../src/lib/i18n/index.svelte';
import { question } from '../../src/lib/state/confirm.svelte';
import { files, OpenFile } from '../../src/lib/state/files.svelte';

interface Asked {
  method: string;
  body: { text?: string; ifMatchSha256?: string };
  answer: (text: string | null) => Promise<void>;
}

/** Pending requests in order. */
let asked: Asked[];

beforeEach(async () => {
  await setLanguage('en');
  asked = [];
  vi.stubGlobal('fetch', (_path: string, init: RequestInit) =>
    new Promise<Response>((done) => {
      const answer = async (text: string | null): Promise<void> => {
        done(text === null ? new Response('{"code":"not-found","message":"It is not there."}', { status: 404 }) : new Response(JSON.stringify({ path: 'a.md', text, sha256: `of ${text}`, bytes: text.length })));
        await settled();
      };
      asked.push({ method: init.method ?? 'GET', body: JSON.parse(String(init.body ?? '{}')) as Asked['body'], answer });
    }),
  );
});
afterEach(() => vi.unstubAllGlobals());

const settled = (): Promise<void> => new Promise((done) => setTimeout(done));

async function opened(text: string): Promise<OpenFile> {
  const file = new OpenFile('p', 'a.md');
  void file.look();
  await asked.shift()?.answer(text);
  return file;
}

describe('an open file', () => {
  it('knows that what was typed during a save is not saved', async () => {
    const file = await opened('one');
    file.draft = 'two';
    void file.save();
    await settled();
    file.draft = 'two and more';
    await asked.shift()?.answer('two');
    expect([file.base?.text, file.dirty]).toEqual(['two', true]);
  });

  it('saves once at a time, each over the one before', async () => {
    const file = await opened('one');
    file.draft = 'two';
    void file.save();
    void file.save();
    await settled();
    expect(asked.length).toBe(1);
    file.draft = 'three';
    await asked.shift()?.answer('two');
    expect(asked.map(({ body }) => [body.text, body.ifMatchSha256])).toEqual([['three', 'of two']]);
    await asked.shift()?.answer('three');
    expect([asked.length, file.dirty]).toEqual([0, false]);
  });

  it('does not take the old text for a new one when a look is overtaken by a save', async () => {
    const file = await opened('one');
    void file.look();
    file.draft = 'two';
    void file.save();
    await settled();
    const [look, save] = asked;
    await save?.answer('two');
    await look?.answer('one');
    expect([file.draft, file.theirs]).toEqual(['two', null]);
  });

  it('keeps what was typed when the file is gone, and makes it anew', async () => {
    const file = await opened('one');
    file.draft = 'mine';
    void file.look();
    await asked.shift()?.answer(null);
    expect([file.draft, file.fault?.code]).toEqual(['mine', 'not-found']);
    void file.recreate();
    await settled();
    expect(asked[0]?.body).toMatchObject({ path: 'a.md', text: 'mine' });
    expect(asked[0]?.body.ifMatchSha256).toBeUndefined();
    await asked.shift()?.answer('mine');
    expect([file.fault, file.dirty]).toEqual([null, false]);
  });

  it('keeps both when the disk changed under what was typed', async () => {
    const file = await opened('one');
    file.draft = 'mine';
    void file.look();
    await asked.shift()?.answer('theirs');
    expect([file.draft, file.theirs?.text]).toEqual(['mine', 'theirs']);
  });
});

describe('the tabs of files', () => {
  it('come back with their project, and nothing that was typed is lost', async () => {
    files.show('p', 'a.md');
    await asked.shift()?.answer('one');
    if (files.front) files.front.draft = 'mine';
    files.enter('q');
    expect([files.open.length, files.current, files.isDirty]).toEqual([0, null, true]);
    const leaving = new Event('beforeunload', { cancelable: true });
    dispatchEvent(leaving);
    expect(leaving.defaultPrevented).toBe(true);
    files.enter('p');
    await asked.shift()?.answer('one');
    expect([files.front?.path, files.front?.draft]).toEqual(['a.md', 'mine']);
  });

  it('give way to their neighbour', async () => {
    for (const path of ['b.md', 'c.md', 'd.md']) files.show('r', path);
    files.current = 'c.md';
    await files.close('c.md');
    expect(files.current).toBe('d.md');
    await files.close('d.md');
    expect(files.current).toBe('b.md');
    await files.close('b.md');
    expect(files.current).toBe(null);
  });

  it('come back after a reload', async () => {
    for (const path of ['a.md', 'b.md']) files.show('t', path);
    files.current = 'a.md';
    dispatchEvent(new Event('pagehide'));
    vi.resetModules();
    const { files: again } = await import('../../src/lib/state/files.svelte');
    expect(again.enter('t')).toBe(true);
    expect([again.open.map((file) => file.path), again.current]).toEqual([['a.md', 'b.md'], 'a.md']);
    expect(again.enter('t')).toBe(false);
    expect([again.enter('never seen'), again.open.length]).toEqual([false, 0]);
  });

  it('with unsaved text close only after a yes', async () => {
    files.show('s', 'a.md');
    await asked.shift()?.answer('one');
    if (files.front) files.front.draft = 'mine';
    const first = files.close('a.md');
    // A second question takes the place of the first, which counts as a no.
    const second = files.close('a.md');
    await first;
    expect(files.front?.path).toBe('a.md');
    question()?.answer(true);
    await second;
    expect([files.open.length, question()]).toEqual([0, null]);
  });
});
