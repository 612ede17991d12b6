import fc from 'fast-check';
import { flushSync, mount, unmount } from 'svelte';
import { beforeAll, describe, expect, it } from 'vitest';
import { setLanguage } from '../../src/lib/i18n/index.svelte';
import { highlight } from '../../src/lib/md/highlight';
import { blocks, fileOf, slug } from '../../src/lib/md/read';
import { viewOf } from '../../src/lib/view-of';
import Markdown from '../../src/ui/Markdown.svelte';

beforeAll(() => setLanguage('en'));

/** Renders a text that stands in `docs/guide` of a project. */
function render(text: string): { made: HTMLElement; opened: string[]; end: () => void } {
  const target = document.createElement('div');
  document.body.append(target);
  const opened: string[] = [];
  const part = mount(Markdown, { target, props: { text, location: { project: 'p 1', folder: 'docs/guide', open: (path: string) => opened.push(path) } } });
  flushSync();
  return {
    made: target,
    opened,
    end: () => {
      void unmount(part);
      target.remove();
    },
  };
}

describe('Markdown in a file of a project', () => {
  it('shows the pictures of the project, and no others', () => {
    const { made, end } = render('![a](../pics/a%20b.png) ![b](https://evil.example/c.png) ![c](notes.md) ![d](../../../x.png) ![e](//evil.example/d.png)');
    expect([...made.querySelectorAll('img')].map((one) => one.getAttribute('src'))).toEqual(['/api/projects/p%201/content?path=docs%2Fpics%2Fa+b.png']);
    expect(made.textContent).toContain('[b] [c] [d] [e]');
    made.querySelector('img')?.dispatchEvent(new Event('error'));
    flushSync();
    expect(made.textContent).toContain('[a]');
    end();
  });

  it('opens the files that it links', () => {
    const { made, opened, end } = render('[one](other.md#part) [two](/README.md) [three](../../../etc/passwd) [four](javascript:alert(1))');
    for (const link of made.querySelectorAll('a')) link.click();
    expect(opened).toEqual(['docs/guide/other.md', 'README.md']);
    end();
  });

  it.each([
    ['a.md', 'docs', 'docs/a.md'],
    ['./a/../b.md', 'docs', 'docs/b.md'],
    ['../b.md', 'docs', 'b.md'],
    ['../../b.md', 'docs', undefined],
    ['/b.md?x=1#y', 'docs', 'b.md'],
    ['@project/artifacts/x.md', 'docs', 'artifacts/x.md'],
    ['%2e%2e/%2e%2e/b.md', 'docs', undefined],
    ['c:\\x', '', undefined],
    ['..\\x', 'docs', undefined],
    ['data:text/html,x', '', undefined],
    ['//host/x', '', undefined],
    ['%', '', undefined],
    ['a%00b', '', undefined],
    ['', 'docs', undefined],
    ['图 片.md', '', '图 片.md'],
  ])('%s from %s is %s', (target, folder, path) => expect(fileOf(target, folder)).toBe(path));

  it('aligns columns', () => {
    const { made, end } = render('| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 | 3 |');
    expect([...made.querySelectorAll<HTMLElement>('th, td')].map((one) => one.style.textAlign)).toEqual(['left', 'right', 'center', 'left', 'right', 'center']);
    end();
  });

  it('shows a long table in part, under a header that stays', () => {
    const { made, end } = render(`| a | b |\n|---|---|\n${Array.from({ length: 400 }, (_, at) => `| ${at} | x |`).join('\n')}`);
    expect(made.querySelectorAll('tbody tr')).toHaveLength(100);
    expect(made.querySelector('.table')?.getAttribute('tabindex')).toBe('0');
    made.querySelector<HTMLButtonElement>('p > button')?.click();
    flushSync();
    expect(made.querySelectorAll('tbody tr')).toHaveLength(400);
    end();
  });

  it('has tasks without bullets, and every block has the direction of its text', () => {
    const { made, end } = render('- [x] done\n- [ ] open\n- other\n\nمرحبا.');
    expect([...made.querySelectorAll('li')].map((one) => [one.classList.contains('task'), one.querySelector('input')?.checked])).toEqual([[true, true], [true, false], [false, undefined]]);
    expect([...made.querySelectorAll('ul, p')].map((one) => one.getAttribute('dir'))).toEqual(['auto', 'auto']);
    end();
  });

  it('has footnotes that lead there and back', () => {
    const { made, end } = render('One[^1] and two[^n] and [^none].\n\n[^1]: First *note*\n  goes on\n[^n]: https://example.com is the second');
    expect([...made.querySelectorAll('sup')].map((one) => one.textContent)).toEqual(['1', '2']);
    const notes = [...made.querySelectorAll('.notes li')];
    expect(notes.map((one) => one.textContent?.replace(/\s+/g, ' ').trim())).toEqual(['First note goes on ↩', 'https://example.com is the second ↩']);
    expect(made.querySelector('.md > p')?.textContent).toBe('One1 and two2 and [^none].');
    let scrolled: Element | null = null;
    Element.prototype.scrollIntoView = function (this: Element) {
      scrolled = this;
    };
    made.querySelector<HTMLElement>('sup a')?.click();
    expect(scrolled).toBe(notes[0]);
    notes[0]?.querySelector<HTMLElement>('a:last-child')?.click();
    expect(scrolled).toBe(made.querySelector('sup'));
    end();
  });

  it('a footnote appears when its text comes, also in a text that grows', () => {
    const text = 'See[^a].\n\nOne.\n\nTwo.\n\nThree.\n\n[^a]: here\n';
    let grown = blocks('');
    for (let end = 1; end <= text.length; end += 1) grown = blocks(text.slice(0, end), grown);
    expect(grown).toEqual(blocks(text));
    expect(grown.notes.map((note) => note.label)).toEqual(['a']);
  });

  it('links to its headings', () => {
    expect(slug('What is “new”, in 2.0?')).toBe('what-is-new-in-20');
    const { made, end } = render('[there](#the-end)\n\n# The end');
    let scrolled: Element | null = null;
    Element.prototype.scrollIntoView = function (this: Element) {
      scrolled = this;
    };
    made.querySelector<HTMLElement>('a')?.click();
    expect(scrolled).toBe(made.querySelector('h1'));
    end();
  });

  it.each([
    ['H~2~O', 'sub', '2'],
    ['~~gone~~', 'del', 'gone'],
  ])('%s has a %s', (text, tag, content) => {
    const { made, end } = render(text);
    expect(made.querySelector(tag)?.textContent).toBe(content);
    end();
  });

  it('leaves single tildes alone', () => {
    const { made, end } = render('It takes ~5 minutes, at most ~10, in ~/work and ~/home.');
    expect(made.textContent?.trim()).toBe('It takes ~5 minutes, at most ~10, in ~/work and ~/home.');
    expect(made.querySelector('del, sub')).toBeNull();
    end();
  });
});

describe('the colours of code', () => {
  const kinds = (text: string, language: string): string => (highlight(text, language) ?? []).filter(([kind]) => kind !== '').map(([kind, piece]) => `${kind} ${piece}`).join(' | ');
  it.each([
    ['ts', 'const a = "x"; // no', 'word const | string "x" | comment // no'],
    ['js', 'f(`a ${1}`, 0x1f)', 'string `a ${1}` | number 0x1f'],
    ['json', '{"a": [1, "b", true]}', 'name "a" | number 1 | string "b" | word true'],
    ['yaml', 'key: true # why\nurl: http://x/#y', 'name key | word true | comment # why | name url'],
    ['python', "@app\ndef run(self): return f'{x}'", "name @app | word def | name run | word self | word return | string f'{x}'"],
    ['rust', "fn main() { println!(\"{}\", 'a'); }", "word fn | name main | name println! | string \"{}\" | string 'a'"],
    ['sh', 'cd "$HOME" && ls --all # list', 'word cd | string "$HOME" | name --all | comment # list'],
    ['SQL', "select a from b where c = 'x' -- all", "word select | word from | word where | string 'x' | comment -- all"],
    ['html', '<a href="x">y</a><!-- z -->', 'name <a | name href | string "x" | name > | name </a | name > | comment <!-- z -->'],
    ['diff', '@@ -1 +1 @@\n-a\n+b\n c', 'comment @@ -1 +1 @@\n | removed -a\n | added +b\n'],
  ])('%s', (language, text, found) => expect(kinds(text, language)).toBe(found));

  it('are none for an unknown language', () => {
    expect(highlight('x', 'brainwave')).toBeUndefined();
    expect(highlight('x', 'constructor')).toBeUndefined();
  });

  it('lose no letter and take no time, whatever the code is', () => {
    const LANGUAGES = ['js', 'json', 'yaml', 'toml', 'ini', 'python', 'rust', 'go', 'java', 'c', 'ruby', 'php', 'shell', 'sql', 'html', 'css', 'docker', 'diff'];
    const PARTS = ['"', "'", '`', '\\', '/*', '//', '#', '<a ', '=', '<!--', '\n', ' ', '1e', 'if', '@x', '$', '{', '---', 'key:', 'ä'];
    fc.assert(
      fc.property(fc.constantFrom(...LANGUAGES), fc.array(fc.constantFrom(...PARTS), { maxLength: 60 }), (language, parts) => {
        const text = parts.join('');
        expect((highlight(text, language) ?? []).map((piece) => piece[1]).join('')).toBe(text);
      }),
      { seed: 7, numRuns: 500 },
    );
    for (const language of LANGUAGES) {
      for (const part of PARTS) expect(highlight(part.repeat(Math.floor(60_000 / part.length)), language)?.length).toBeGreaterThan(0);
    }
  }, 30_000);
});

describe('the view of a file', () => {
  it.each([
    ['a/b.MD', 'markdown'],
    ['x.svg', 'picture'],
    ['x.pdf', 'pdf'],
    ['x.csv', 'table'],
    ['page.html', 'text'],
    ['Makefile', 'text'],
  ])('%s is %s', (path, view) => expect(viewOf(path)).toBe(view));
});
