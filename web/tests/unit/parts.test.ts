import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { choose, formatAnswer } from '../../src/lib/answers';
import { joinCursors } from '../../src/lib/api/stream';
import type { Question } from '../../src/lib/api/types';
import { en as pageEn } from '../../src/lib/i18n/en';
import { texts as settingsEn } from '../../src/lib/i18n/settings/en';
import { texts as settingsZh } from '../../src/lib/i18n/settings/zh';
import { setLanguage } from '../../src/lib/i18n/index.svelte';
import { zh as pageZh } from '../../src/lib/i18n/zh';
import { flushSync, mount, unmount } from 'svelte';
import { blocks } from '../../src/lib/md/read';
import Markdown from '../../src/ui/Markdown.svelte';
import { difference } from '../../src/lib/difference';
import { entries, toAnswer, initial, mistakes, restore } from '../../src/lib/form';
import { changeOf, readDiff } from '../../src/lib/patch';
import { reduce } from '../../src/lib/reduce';
import { emptyView, type Row } from '../../src/lib/view';
import { group, merge, NOTHING, regroup } from '../../src/lib/rows';
import { journal } from './journals';

/** Renders a text as Markdown. */
function render(text: string): HTMLElement {
  const target = document.createElement('div');
  const part = mount(Markdown, { target, props: { text } });
  flushSync();
  const copy = target.cloneNode(true) as HTMLElement;
  void unmount(part);
  return copy;
}

describe('Markdown', () => {
  beforeAll(() => setLanguage('en'));

  it.each([
    '[x](javascript:alert(1))',
    '[x](JaVaScRiPt:alert(1))',
    '[x](&#106;avascript:alert(1))',
    '[x](data:text/html;base64,PHNjcmlwdD4=)',
    '[x](file:///etc/passwd)',
    '[x]( vbscript:x)',
    '<a href="javascript:alert(1)">x</a>',
    '<img src=x onerror=alert(1)>',
    '<script>alert(1)</script>',
    'a <svg onload=alert(1)></svg> b',
    '<form action="https://a.b"><input></form>',
    '<iframe src="https://a.b"></iframe>',
    '<base href="https://a.b"><style>*{}</style>',
    '![x](https://evil.example/cat.png)',
    '![x](data:image/svg+xml;base64,PHN2Zz4=)',
    '</textarea><script>alert(1)</script>&lt;script&gt;',
  ])('%s is only words', (text) => {
    const made = render(text);
    expect(made.querySelectorAll('script,svg,iframe,form,input,base,style,img,[href],[src],[onerror],[onload]')).toHaveLength(0);
  });

  it('has pictures that are in the text itself, and names those that are not', () => {
    expect(render('![dot](data:image/png;base64,iVBORw0KGgo=)').querySelector('img')).not.toBeNull();
    expect(render('![a cat](https://evil.example/cat.png)').textContent).toContain('[a cat]');
  });

  it('opens links outside of the app', () => {
    const link = render('[site](https://example.com)').querySelector('a');
    expect([link?.target, link?.rel]).toEqual(['_blank', 'noopener noreferrer nofollow']);
  });

  it('shows where a link leads, whatever the text says', () => {
    const link = render('[https://github.com/login](https://evil.test/ "https://github.com/login")').querySelector('a');
    expect([link?.getAttribute('href'), link?.title]).toEqual(['https://evil.test/', 'https://evil.test/']);
    const alike = render('[site](https://g\u0456thub.com/x)').querySelector('a');
    expect(alike?.title).toMatch(/^https:\/\/xn--[a-z0-9-]+\.com\/x$/);
  });

  it('has lists, tables, code and marks', () => {
    const made = render('# T\n\n1. one\n   - **in**\n2. [ ] two\n\n| a | b |\n|---|---|\n| 1 | `2` |\n\n```sh\nx < y &amp;\n```\n\nR&amp;D ~~no~~');
    expect(made.querySelectorAll('h1, ol > li, ul > li strong, td code, pre, del')).toHaveLength(7);
    expect(made.querySelector('pre')?.textContent).toBe('x < y &amp;');
    expect(made.textContent).toContain('R&D');
  });

  it('only its last block changes while a text grows', () => {
    const text = '# Title\n\nFirst.\n\n- one\n- two\n\nThe last part gr';
    const [before, after] = [blocks(text).shown, blocks(`${text}ows.`).shown];
    expect(after.slice(0, -1).map((block) => block.raw)).toEqual(before.slice(0, -1).map((block) => block.raw));
  });

  it('is the same whether it comes at once or in pieces', () => {
    const PARTS = ['# Title\n', 'words ', '\n', '\n\n', '- one\n', '  - two\n', '1. first\n', '> said\n', '```js\n', '`code`', '**bold**', '| a | b |\n', '|---|---|\n', '---\n', '===\n', '    far in\n', '##', '<div>\n', '\r\n', '$'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PARTS), { maxLength: 40 }), fc.nat({ max: 6 }), (parts, step) => {
        const text = parts.join('');
        let grown = blocks('');
        for (let end = 0; end < text.length; end += step + 1) grown = blocks(text.slice(0, end), grown);
        expect(blocks(text, grown).shown).toEqual(blocks(text).shown);
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it.each([
    ['quotes in quotes', '>'.repeat(3000)],
    ['lists in lists', Array.from({ length: 400 }, (_, at) => `${' '.repeat(at * 2)}- x`).join('\n')],
    ['brackets', '['.repeat(20_000)],
    ['marks that are never closed', '_a'.repeat(20_000)],
    ['a long text', 'word '.repeat(120_000)],
  ])('%s are shown, and soon', (_, text) => {
    const begun = performance.now();
    expect(render(text).textContent?.length).toBeGreaterThan(0);
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});

describe('differences', () => {
  it('leave out no line that looks like the name of a file', () => {
    const diff = '--- a/notes.md\n+++ b/notes.md\n@@ -1,4 +1,4 @@\n---\n--- drop table users;\n+++i;\n+++ b\n title\n ---\n--- a/more.md\n+++ b/more.md\n@@ -1 +1 @@\n-x\n+y\n\\ No newline at end of file\n';
    const { lines, added, removed } = readDiff(diff);
    expect(lines.map((line) => `${line.kind} ${line.text}`)).toEqual(['del --', 'del -- drop table users;', 'add ++i;', 'add ++ b', 'same title', 'same ---', 'gap ', 'del x', 'add y']);
    expect([added, removed]).toEqual([3, 3]);
    const patch = '*** Begin Patch\n*** Update File: a.md\n@@\n--- old\n+++ new\n@@\n-x\n*** End Patch\n';
    expect(readDiff(patch).lines.map((line) => `${line.kind} ${line.text}`)).toEqual(['del -- old', 'add ++ new', 'gap ', 'del x']);
  });

  it('have the numbers of both files', () => {
    const { lines, added, removed } = difference('a\nb\nc\n', 'a\nB\nc\nd\n');
    expect([added, removed]).toEqual([2, 1]);
    expect(lines.map((line) => `${line.kind} ${line.number} ${line.text}`)).toEqual(['same 1 a', 'del 2 b', 'add 2 B', 'same 3 c', 'add 4 d']);
  });

  it('are read from diffs and from calls', () => {
    expect(readDiff('--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n')).toMatchObject({ added: 1, removed: 1 });
    expect(changeOf('fs.write', JSON.stringify({ path: '@project/a', content: 'x\ny\n' }))).toMatchObject({ added: 2, removed: 0 });
    expect(changeOf('fs.apply_patch', JSON.stringify({ edits: [{ old: 'a', new: 'b' }] }))).toMatchObject({ added: 1, removed: 1 });
    expect(changeOf('fs.read', '{}')).toBeUndefined();
    expect(changeOf('fs.write', 'no json')).toBeUndefined();
  });
});

describe('answers', () => {
  it('are read by their labels', () => {
    const options = [{ value: 'new', label: 'A new one' }, { value: 'old' }];
    const choice: Question = { question: 'Which?', kind: 'choice', options };
    expect(formatAnswer(choice, options, 'new')).toBe('A new one');
    expect(formatAnswer(choice, options, '1')).toBe('A new one');
    expect(formatAnswer(choice, options, 'something else')).toBe('something else');
    expect(formatAnswer({ ...choice, multi: true }, options, 'new, old')).toBe('A new one, old');
    const form: Question = { question: 'Who?', kind: 'form', schema: { properties: { name: { type: 'string', title: 'Name' } } } };
    expect(formatAnswer(form, [], '{"name":"Ana","age":3}')).toBe('Name: Ana\nage: 3');
    expect(formatAnswer(form, [], 'just words')).toBe('just words');
  });

  const question: Question = { question: '?', kind: 'choice', options: [{ value: 'a' }, { value: 'b, c' }, { value: 'd' }] };

  it('name options as the runtime reads them', () => {
    expect(choose(question, ['a', 'd'])).toBe('a, d');
    expect(choose(question, ['b, c'])).toBe('b, c');
    expect(choose(question, ['a', 'b, c'])).toBe('1, 2');
  });

  it('fill in forms', () => {
    const all = entries({
      required: ['name', 'many'],
      properties: { name: { type: 'string', minLength: 2 }, many: { type: 'integer', minimum: 1 }, on: { type: 'boolean' }, tags: { type: 'array', items: { enum: ['x', 'y'] } } },
    });
    expect(restore(initial(all), { name: 'kept', many: ['no text'], other: 'x' })).toEqual({ ...initial(all), name: 'kept' });
    expect(mistakes(all, initial(all))).toEqual({ name: 'missing', many: 'missing' });
    expect(mistakes(all, { ...initial(all), name: 'a', many: '1.5' })).toEqual({ name: 'length', many: 'integer' });
    expect(JSON.parse(toAnswer(all, { name: 'ab', many: '3', on: false, tags: ['x'] }))).toEqual({ name: 'ab', many: 3, on: false, tags: ['x'] });
  });

  it('say what a number may be', () => {
    const about = (field: object): string | undefined => entries({ properties: { n: { type: 'number', ...field } } })[0]?.description;
    expect(about({ minimum: 1, maximum: 10, description: 'How many' })).toBe('How many · 1 – 10');
    expect(about({ exclusiveMinimum: 0, maximum: 5 })).toBe('> 0, ≤ 5');
    expect(about({ minimum: 0 })).toBe('≥ 0');
    expect(about({})).toBeUndefined();
  });

  it('of a choice with titles are its values, and too few of them are a mistake', () => {
    const titled = [{ const: 'new', title: 'A new one' }, { const: 2, title: 'The second' }];
    const all = entries({ properties: { one: { oneOf: titled }, some: { type: 'array', items: { anyOf: titled }, minItems: 2 }, labelFor: { enum: ['x', null], enumNames: ['An x', ''] } } });
    expect(all.map((entry) => entry.choices.map((choice) => choice.label))).toEqual([['A new one', 'The second'], ['A new one', 'The second'], ['An x']]);
    expect(mistakes(all, { one: '2', some: ['new'] })).toEqual({ some: 'count' });
    expect(JSON.parse(toAnswer(all, { one: '2', some: ['new', '2'], labelFor: 'x' }))).toEqual({ one: 2, some: ['new', 2], labelFor: 'x' });
  });
});

describe('lists', () => {
  it('neighbouring looks are one row', () => {
    const { rows } = reduce(emptyView(), journal('create-story'));
    const render = group(rows, 'run');
    expect(render.some((row) => row.kind === 'group' && row.tools.length > 1)).toBe(true);
    expect(render.reduce((sum, row) => sum + (row.kind === 'group' ? row.tools.length : 1), 0)).toBe(rows.length);
  });

  it('rows that say the same are one with a count, also when they come one by one', () => {
    const head = (seq: number) => ({ key: `e${seq}`, seq, time: `2026-01-01T00:00:0${seq}Z` });
    const retried = (seq: number): Row => ({ ...head(seq), kind: 'note', topic: 'retried', subject: 'busy', detail: [String(seq), '1'] });
    const done: Row = { ...head(5), kind: 'note', topic: 'completed', subject: '', detail: [] };
    const started: Row = { ...head(1), kind: 'note', topic: 'started', subject: 'w', detail: ['p'] };
    const rows = [started, retried(2), retried(3), retried(4), done];
    const shown = group(rows, 'run');
    expect(shown.map(({ key, times }) => [key, times])).toEqual([['e1', undefined], ['e2', 3], ['e5', undefined]]);
    expect(shown[1]).toMatchObject({ detail: ['4', '1'] });
    expect(group(rows, 'run', true).map(({ key }) => key)).toEqual(['e2', 'e5']);
    for (const inConversation of [false, true]) {
      let grouped = NOTHING;
      for (let count = 1; count <= rows.length; count += 1) grouped = regroup(grouped, rows.slice(0, count), 'run', inConversation);
      expect(grouped.shown).toEqual(group(rows, 'run', inConversation));
    }
  });

  it('journals are merged by time, each in its own order', () => {
    const { rows } = reduce(emptyView(), journal('create-story'));
    const [odd, even] = [0, 1].map((rest) => group(rows.filter((_, at) => at % 2 === rest), String(rest)));
    const merged = merge([odd ?? [], even ?? []]);
    expect(merged.length).toBe((odd?.length ?? 0) + (even?.length ?? 0));
    expect(merged.map((row) => row.time)).toEqual(merged.map((row) => row.time).toSorted());
  });
});

describe('words', () => {
  const holes = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '').toSorted();
  const [en, zh] = [{ ...pageEn, ...settingsEn }, { ...pageZh, ...settingsZh }];
  const pairs = Object.entries(en).map(([key, text]) => [key, text, zh[key as keyof typeof en]] as const);

  it('have the same holes in both languages', () => {
    // A singular contains the number itself.
    for (const [key, text, other] of pairs) if (!key.endsWith('.one')) expect([key, holes(other)]).toEqual([key, holes(text)]);
  });

  it('are never blank', () => {
    for (const [key, text, other] of pairs) expect([key, text.trim() !== '' && other.trim() !== '']).toEqual([key, true]);
  });
});

describe('cursors', () => {
  it('are joined by journal', () => {
    expect(joinCursors('run/a=1.2.0,conversation/b=1.1.0', 'run/a=1.5.0')).toBe('run/a=1.5.0,conversation/b=1.1.0');
    expect(joinCursors('', '')).toBe('');
  });
});
