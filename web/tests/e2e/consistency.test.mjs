/** What the page shows is what there is: lists, packages, files, switches, and what was refused. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { altered, desk } from './fixture.mjs';
import { example, settled } from './harness.mjs';
import { until } from './screens-fixture.mjs';

const MODEL = JSON.stringify({
  scenario: 'truth',
  nodes: { 'step-01-intake': [{ say: 'Hello.' }] },
  chat: [{ calls: [{ 'fs.write': { path: '@project/notes.md', content: '# Second\n' } }, { 'fs.write': { path: '@project/plans/first.md', content: 'A plan.\n' } }] }, { say: 'It is written.', times: 9 }],
});
const REFUSED = { status: 400, contentType: 'application/json', body: '{"code":"invalid","message":"It was refused.","hint":"Nothing was changed."}' };

describe('the page shows what there is', () => {
  let set, tab, shop;
  before(async () => {
    set = await desk({ model: MODEL });
    ({ tab } = set);
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
    await set.api('POST', '/api/packages/import', { path: example('create-story-micro') });
    shop = await set.project('shop', { 'notes.md': '# First\n' });
  });
  after(() => set?.close());
  const at = (...path) => [set.server.origin, 'project', shop.id, ...path].join('/');

  it('a file that is open when a conversation writes it, and the tree, have what was written', async () => {
    const talk = (await set.api('POST', '/api/conversations', { project: shop.id })).id;
    await tab.goto(at('work', talk));
    await tab.getByRole('button', { name: 'Files', exact: true }).click();
    await tab.getByRole('treeitem', { name: 'notes.md' }).click();
    await tab.getByRole('heading', { name: 'First' }).waitFor();
    await set.api('POST', `/api/conversations/${talk}/say`, { text: 'Write it, zebra.' });
    await tab.getByRole('heading', { name: 'Second' }).waitFor();
    await tab.getByRole('treeitem', { name: 'plans' }).waitFor();
    await tab.getByRole('button', { name: 'Works', exact: true }).click();
  });

  it('a conversation that was found and removed is found no more', async () => {
    const search = tab.getByRole('searchbox', { name: 'Search conversations' });
    await search.fill('zebra');
    const line = tab.locator('li.line').filter({ hasText: 'zebra' });
    await line.waitFor();
    await line.getByRole('button').click();
    let question = '';
    tab.once('dialog', (dialog) => ((question = dialog.message()), void dialog.accept()));
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await tab.getByText('No conversation contains these words.').waitFor();
    assert.match(question, /Remove the conversation "[^"]+"/);
  });

  it('a run that waits is found among more runs than are listed at once, and so are all of them', async () => {
    const runs = [];
    for (let n = 0; n < 3; n += 1) {
      runs.push(await set.run(shop.id, 'hello-branch'));
      await until('the run rests', async () => (await set.api('GET', `/api/runs/${runs[n]}`)).status === 'waiting-user');
    }
    await set.api('POST', `/api/runs/${runs[2]}/stop`);
    // The server lists one where the page asks for two hundred.
    await tab.route('**/api/runs?*', (route) => {
      const url = new URL(route.request().url());
      const limit = Number(url.searchParams.get('limit') ?? 200);
      if (limit % 200 === 0) url.searchParams.set('limit', String(limit / 200));
      return route.continue({ url: url.href });
    });
    await tab.goto(at('runs'));
    const cards = tab.locator('main .run');
    await tab.getByText('1 of 3 runs are shown.').waitFor();
    assert.equal(await cards.count(), 1);
    await tab.getByRole('button', { name: 'Waiting for you' }).click();
    await tab.getByText('1 of 3 runs are shown.').waitFor();
    await tab.getByRole('button', { name: 'Show more' }).click();
    await tab.getByText('2 of 3 runs are shown.').waitFor();
    await tab.getByRole('searchbox', { name: 'Search runs' }).fill(runs[0]);
    await until('the oldest is found', async () => (await cards.allInnerTexts()).join().includes(runs[0]));
    assert.equal(await cards.count(), 1);
    await tab.getByText('Older works are not listed here.').waitFor();
    await tab.unroute('**/api/runs?*');
    await tab.getByRole('searchbox', { name: 'Search runs' }).fill('');
    await tab.reload();
    await until('all are there', async () => (await cards.count()) === 3);
    assert.equal(await tab.getByText('runs are shown').count(), 0);
  });

  it('a package that was imported anew is the new one', async () => {
    await tab.goto(at('packages?package=hello-branch%400.1.0'));
    await tab.getByText('A small package with one decision.').waitFor();
    const path = await altered(set.folder, 'again', 'hello-branch', { 'bmad.json': (json) => (json.description = 'Made anew.') });
    await tab.getByRole('button', { name: 'Import a package' }).click();
    await tab.getByLabel('File or folder on this computer').fill(path);
    await tab.getByRole('button', { name: 'Check' }).click();
    await tab.getByRole('button', { name: 'Import', exact: true }).click();
    await tab.waitForURL(/launch/);
    await tab.getByRole('link', { name: 'Packages' }).click();
    await tab.getByText('Made anew.').waitFor();
  });

  it('a package that was removed is not chosen, and one that is not there is told of', async () => {
    // Two are called the same; the one that is removed is the one that was meant.
    const { packages } = await set.api('GET', '/api/packages');
    const [older] = packages.filter((one) => one.name === 'hello-branch');
    await tab.goto(`${set.server.origin}/settings/packages`);
    tab.on('dialog', (dialog) => void dialog.accept());
    const lines = tab.getByRole('listitem').filter({ hasText: 'hello-branch@0.1.0' });
    await lines.first().getByRole('button', { name: 'Remove' }).click();
    await until('one is left', async () => (await lines.count()) === 1);
    assert.equal((await set.api('GET', '/api/packages')).packages.some((one) => one.sha256 === older.sha256), false);
    await tab.goto(at('packages'));
    await tab.getByText('Made anew.').waitFor();
    await tab.getByRole('button', { name: 'Remove' }).click();
    await until('another one is shown', async () => (await tab.getByLabel('Package', { exact: true }).inputValue()).startsWith('create-story-micro'));
    await tab.goto(at('packages?package=hello-branch%400.1.0'));
    await tab.getByRole('alert').getByText('The package hello-branch@0.1.0 is not in the store').waitFor();
  });

  it('the settings keep their project over a reload', async () => {
    await tab.goto(at('runs'));
    const rail = tab.getByRole('navigation', { name: 'Main' });
    await rail.getByRole('link', { name: 'Settings' }).click();
    await tab.getByRole('link', { name: 'Appearance' }).click();
    await tab.reload();
    await rail.getByRole('link', { name: 'Runs' }).waitFor();
    await tab.getByRole('navigation', { name: 'Where you are' }).getByRole('link', { name: 'shop' }).waitFor();
    await tab.getByRole('link', { name: 'Back' }).click();
    await tab.getByRole('heading', { name: 'shop' }).waitFor();
  });

  it('a switch that was refused stays as it was, with the reason', async () => {
    await tab.goto(`${set.server.origin}/settings/looks`);
    const notify = tab.getByRole('checkbox', { name: /Notify me/ });
    await notify.click();
    await tab.locator('.toast').getByText('The browser does not let this page show notifications.').waitFor();
    assert.equal(await notify.isChecked(), false);

    await set.api('PUT', '/api/mcp/servers/own', { way: { kind: 'stdio', command: 'true', args: [], env: [] } });
    await tab.route('**/api/**', (route) => (route.request().method() === 'PATCH' ? route.fulfill(REFUSED) : route.continue()));
    await tab.goto(`${set.server.origin}/settings/mcp`);
    for (const name of ['Runs may use MCP servers', 'Runs may use own']) {
      const field = tab.getByRole('switch', { name });
      await field.click();
      await tab.locator('.toast').getByText('It was refused.').waitFor();
      await until(`${name}: it is off again`, async () => !(await field.isChecked()));
      await tab.getByRole('button', { name: 'Dismiss' }).click();
    }
    await tab.unroute('**/api/**');
  });

  it('what a dialog is refused is told in the dialog', async () => {
    await tab.goto(`${set.server.origin}/settings/mcp`);
    await tab.getByRole('button', { name: 'Add a server' }).click();
    const dialog = tab.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('next');
    await dialog.getByRole('textbox', { name: 'Program' }).fill('true');
    await dialog.getByText('Folder and time limits').click();
    await dialog.getByLabel('Time to start').fill('soon');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    assert.equal(await dialog.getByLabel('Time to start').inputValue(), 'soon');
    await tab.keyboard.press('Escape');
    await tab.getByRole('button', { name: 'Take over from another tool' }).click();
    await dialog.getByLabel('JSON with mcpServers').fill('no json');
    await dialog.getByRole('button', { name: 'Look at it' }).click();
    await dialog.getByRole('alert').waitFor();
    await tab.keyboard.press('Escape');
    await tab.goto(`${set.server.origin}/settings/packages`);
    await tab.getByRole('button', { name: 'New package' }).click();
    await dialog.getByLabel('Folder to make for it').fill('relative/x');
    await dialog.getByRole('button', { name: 'Make it' }).click();
    await dialog.getByRole('alert').waitFor();
    assert.equal(await tab.locator('.toast').count(), 0);
    await tab.keyboard.press('Escape');
  });

  it('what is set in one tab holds in the other, and neither takes back what the other set', async () => {
    const other = await set.context.newPage();
    await other.goto(`${set.server.origin}/settings/looks`);
    await tab.goto(`${set.server.origin}/settings/looks`);
    await tab.getByRole('radio', { name: 'Dark' }).check();
    await until('the other is dark, too', () => other.evaluate(() => document.documentElement.dataset.theme === 'dark'));
    await other.getByRole('radio', { name: 'Compact' }).check();
    const kept = await tab.evaluate(() => JSON.parse(localStorage.getItem('crewagent.prefs')));
    assert.deepEqual([kept.theme, kept.density], ['dark', 'compact']);
    await other.getByRole('radio', { name: 'Light' }).check();
    await other.close();
  });

  it('the keyboard leaves the editor as the editor says', async () => {
    await tab.goto(at());
    await tab.getByRole('button', { name: 'Files', exact: true }).click();
    await tab.getByRole('treeitem', { name: 'notes.md' }).click();
    await tab.getByRole('button', { name: 'Source' }).click();
    const text = tab.locator('.host .cm-content');
    await text.click();
    assert.match(await text.getAttribute('aria-description'), /press Escape, then Tab/);
    await tab.keyboard.press('Escape');
    await tab.keyboard.press('Tab');
    assert.equal(await tab.evaluate(() => document.activeElement?.closest('.host') === null), true);
    assert.equal(await readFile(join(shop.path, 'notes.md'), 'utf8'), '# Second\n');
    await tab.keyboard.press('?');
    await tab.getByRole('dialog').getByText('In the editor: leave it').waitFor();
    await settled(tab);
  });

  it('had no errors', () => {
    assert.deepEqual(set.errors.filter((error) => !/Failed to load resource/.test(error)), []);
  });
});
