/** Files that are shown: pictures, tables, PDFs, Markdown with links, long lines, many tabs, and what is printed. */

import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { assertAccessible, eventually, until } from './harness.mjs';

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>document.title = "hacked"</script><rect width="40" height="20" fill="teal"/></svg>';
const PDF = '%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj\ntrailer<</Root 1 0 R>>\n';
const REPORT = [
  '# Report',
  '',
  '![A dot](../pics/dot.png) and ![another](https://evil.example/x.png), see [the plan](plan.md) and [the end](#the-end)[^1].',
  '',
  '```ts',
  'const answer: number = 42; // known',
  '```',
  '',
  '| name | count |',
  '|---|---:|',
  '| a | 1 |',
  '',
  '- [x] done',
  '- [ ] open',
  '',
  'مرحبا بالعالم.',
  '',
  ...Array.from({ length: 60 }, (_, n) => `Paragraph ${n}.\n`),
  '## The end',
  '',
  '[^1]: A note.',
  '',
].join('\n');

const FILES = {
  'docs/report.md': REPORT,
  'docs/plan.md': '# Plan\n',
  'docs/wide.md': `| ${Array.from({ length: 30 }, (_, at) => `c${at}`).join(' | ')} |\n|${'---|'.repeat(30)}\n${Array.from({ length: 400 }, (_, row) => `| ${Array.from({ length: 30 }, (_, at) => row * at).join(' | ')} |`).join('\n')}\n`,
  'pics/dot.png': PIXEL,
  'pics/logo.svg': SVG,
  'pics/broken.png': 'no picture',
  'page.html': '<script>document.title = "hacked"</script><h1>Page</h1>',
  'data.csv': 'name;count\n"a; b";1\nc;20\n',
  'paper.pdf': PDF,
  'long.txt': `${'x'.repeat(3_000_000)}\n`,
  'bytes.bin': Buffer.from([0, 1, 2, 255]),
};

/** Makes a test of a project with files of many kinds. */
const withFiles = (body, options = {}) =>
  withFixture(options, async (fixture, t) => {
    const { tab } = fixture;
    const shop = await fixture.project('shop', { ...FILES, ...options.files });
    await fixture.go('project', shop.id, 'runs');
    await tab.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    const openFile = async (name) => {
      await tab.keyboard.press('Control+p');
      await tab.getByRole('combobox', { name: 'Open a file' }).fill(name);
      await tab.getByRole('option', { name }).first().waitFor();
      await tab.keyboard.press('Enter');
      await tab.getByRole('tab', { name, selected: true }).waitFor();
    };
    await body({ ...fixture, shop, openFile }, t);
  });

/** Waits until a picture is loaded. */
const isLoaded = (picture) => until('the picture is loaded', () => picture.evaluate((one) => one.complete && one.naturalWidth > 0));

describe('a file that is no plain text', () => {
  it('is shown as a picture, and nothing in it runs', withFiles(async ({ tab, openFile }) => {
    await openFile('dot.png');
    await isLoaded(tab.locator('.file img'));
    assert.equal(await tab.getByRole('button', { name: 'Save', exact: true }).count(), 0);
    await openFile('logo.svg');
    await isLoaded(tab.locator('.file img'));
    await tab.getByRole('button', { name: 'Source' }).click();
    await tab.locator('.cm-content').getByText('document.title').waitFor();
    await openFile('page.html');
    await tab.locator('.cm-content').getByText('<h1>Page</h1>').waitFor();
    assert.equal(await tab.getByRole('button', { name: 'Preview' }).count(), 0);
    await openFile('broken.png');
    await tab.getByText('This picture cannot be shown.').waitFor();
    assert.doesNotMatch(await tab.title(), /hacked/);
  }, { allowedErrors: /ERR_|status of 4\d\d/ }));

  it('shows the new picture when its file changes', withFiles(async ({ tab, shop, openFile }) => {
    await openFile('dot.png');
    const picture = tab.locator('.file img');
    await isLoaded(picture);
    const before = await picture.getAttribute('src');
    await writeFile(join(shop.path, 'pics/dot.png'), SVG);
    await rm(join(shop.path, 'pics/dot.png'));
    await writeFile(join(shop.path, 'pics/dot.png'), Buffer.concat([PIXEL, Buffer.from('x')]));
    await openFile('dot.png');
    await eventually(async () => assert.notEqual(await picture.getAttribute('src'), before));
    await isLoaded(picture);
  }));

  it('is shown as a table or in the viewer of the browser, and can be saved', withFiles(async ({ tab, openFile }) => {
    await openFile('data.csv');
    assert.deepEqual(await tab.locator('.file td').allInnerTexts(), ['a; b', '1', 'c', '20']);
    await assertAccessible(tab);
    await openFile('paper.pdf');
    const frame = await (await tab.waitForSelector('.file iframe')).contentFrame();
    await until('the frame has the file', () => /\/content\?path=paper\.pdf&version=\w+&inline=true$/.test(frame?.url() ?? ''));
    await openFile('bytes.bin');
    await tab.getByText('This file is not text').waitFor();
    const [saved] = await Promise.all([tab.waitForEvent('download'), tab.getByRole('link', { name: 'Download' }).click()]);
    assert.equal(saved.suggestedFilename(), 'bytes.bin');
  }));

  it('with a line that is too long is plain text, and says so', withFiles(async ({ tab, openFile }) => {
    await openFile('long.txt');
    await tab.getByText(/A line of this file has 2\.9 MiB/).waitFor();
    assert.equal(await tab.locator('.cm-content').count(), 0);
    await tab.getByRole('button', { name: 'Open in the editor' }).click();
    await tab.locator('.cm-content').waitFor();
  }));
});

describe('Markdown of the project', () => {
  it('has its pictures, its links, its colours and its footnotes', withFiles(async ({ tab, context, openFile }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await openFile('report.md');
    await isLoaded(tab.getByRole('img', { name: 'A dot' }));
    await tab.getByText('[another]').waitFor();
    await tab.locator('.md .word', { hasText: 'const' }).waitFor();
    await tab.locator('.md .comment', { hasText: '// known' }).waitFor();
    await tab.getByRole('button', { name: 'Copy the code' }).click();
    await eventually(async () => assert.equal(await tab.evaluate(() => navigator.clipboard.readText()), 'const answer: number = 42; // known'));
    assert.equal(await tab.locator('.md td').nth(1).evaluate((cell) => getComputedStyle(cell).textAlign), 'right');
    assert.equal(await tab.locator('.md li.task').first().evaluate((item) => getComputedStyle(item).listStyleType), 'none');
    assert.equal(await tab.locator('.md p', { hasText: 'مرحبا' }).evaluate((one) => getComputedStyle(one).direction), 'rtl');
    await assertAccessible(tab);
    await tab.getByRole('link', { name: 'the end' }).click();
    await until('the end is in view', () => tab.getByRole('heading', { name: 'The end' }).evaluate((one) => one.getBoundingClientRect().bottom <= innerHeight));
    await tab.locator('.md sup a').click();
    await until('the note has the focus', () => tab.evaluate(() => document.activeElement?.textContent === '↩'));
    await tab.getByRole('link', { name: 'the plan' }).click();
    await tab.getByRole('tab', { name: 'plan.md', selected: true }).waitFor();
    await tab.getByRole('heading', { name: 'Plan' }).waitFor();
  }));

  it('keeps the header of a large table in view', withFiles(async ({ tab, openFile }) => {
    await openFile('wide.md');
    const table = tab.locator('.md .table');
    await table.waitFor();
    assert.equal(await table.locator('tbody tr').count(), 100);
    await table.evaluate((one) => one.scrollTo(300, 1500));
    await eventually(async () => {
      const [top, head] = await table.evaluate((one) => [one.getBoundingClientRect().top, one.querySelector('th').getBoundingClientRect().top]);
      assert.ok(Math.abs(head - top) <= 2, `${head} is at ${top}`);
    });
    await tab.getByRole('button', { name: 'Show all 400 rows' }).click();
    await eventually(async () => assert.equal(await table.locator('tbody tr').count(), 400));
  }));

  it('is alone on paper', withFiles(async ({ tab, openFile }) => {
    await openFile('report.md');
    await tab.getByRole('heading', { name: 'Report' }).waitFor();
    await tab.emulateMedia({ media: 'print' });
    const seen = await tab.evaluate(() => {
      const isSeen = (one) => one.getClientRects().length > 0;
      const of = (selector) => [...document.querySelectorAll(selector)].some(isSeen);
      const cut = [...document.querySelectorAll('.md, main, .scroll')].filter((one) => isSeen(one) && one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).overflowY !== 'visible');
      return { bars: of('header.top, nav, aside, .tabs, .file .bar, .status'), text: of('.md h1'), end: of('.md h2'), cut: cut.length };
    });
    assert.deepEqual(seen, { bars: false, text: true, end: true, cut: 0 });
    await tab.emulateMedia({ media: 'screen' });
    await tab.getByRole('button', { name: 'Source' }).click();
    await tab.locator('.cm-content').waitFor();
    await tab.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await tab.emulateMedia({ media: 'print' });
    await tab.locator('.printed', { hasText: '## The end' }).waitFor();
    assert.equal(await tab.locator('.cm-editor').isVisible(), false);
  }));
});

describe('many tabs', () => {
  const names = Array.from({ length: 14 }, (_, at) => `a-rather-long-name-${String(at).padStart(2, '0')}.md`);
  const files = Object.fromEntries(names.map((name) => [name, `# ${name}\n`]));

  it('show the active one, close by their own cross, and are listed', withFiles(async ({ tab, openFile }) => {
    for (const name of names) await openFile(name);
    const isInView = (name) =>
      tab.getByRole('tab', { name }).evaluate((one) => {
        const [own, list] = [one.getBoundingClientRect(), one.parentElement.getBoundingClientRect()];
        return own.left >= list.left - 1 && own.right <= list.right + 1;
      });
    await until('the last one is in view', () => isInView(names[13]));
    await tab.getByRole('button', { name: /^All tabs/ }).click();
    await tab.getByRole('menuitemradio', { name: names[0] }).click();
    await tab.getByRole('tab', { name: names[0], selected: true }).waitFor();
    await until('the first one is in view', () => isInView(names[0]));
    await tab.getByRole('tab', { name: names[2] }).locator('.x').click();
    await tab.getByRole('tab', { name: names[2] }).waitFor({ state: 'detached' });
    await tab.getByRole('tab', { name: names[0], selected: true }).waitFor();
    await assertAccessible(tab);
    await tab.getByRole('button', { name: /^All tabs/ }).click();
    await tab.getByRole('menuitemradio', { name: 'Close tab' }).click();
    await tab.getByRole('tab', { name: names[1], selected: true }).waitFor();
    await tab.getByRole('button', { name: /^All tabs/ }).click();
    await tab.getByRole('menuitemradio', { name: 'Close all files' }).click();
    await eventually(async () => assert.equal(await tab.getByRole('tab').count(), 0));
  }, { files }));
});
