/** The page shows what there is: lists, files, switches, other tabs, and what was refused. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, until } from './harness.mjs';

const MODEL = {
  nodes: { 'step-01-intake': [{ say: 'Hello. What now?' }] },
  chat: [{ calls: [{ 'fs.apply_patch': { path: '@project/notes.md', edits: [{ old: 'First', new: 'Second' }] } }, { 'fs.write': { path: '@project/plans/first.md', content: 'A plan.\n' } }] }, { say: 'It is written.', times: 9 }],
};
const REFUSED = { status: 400, contentType: 'application/json', body: '{"code":"invalid","message":"It was refused.","hint":"Nothing was changed."}' };

/** Makes a test of a project with a file. */
const withShop = (body) =>
  withFixture({ model: MODEL }, async (fixture) => {
    const shop = await fixture.project('shop', { 'notes.md': '# First\n' });
    await body({ ...fixture, shop, openProject: (...path) => fixture.go('project', shop.id, ...path) });
  });

describe('a conversation', () => {
  it('a file that is open when a conversation writes it, and the tree, have what was written', withShop(async ({ tab, api, shop, startConversation, showConversation }) => {
    const conversation = await startConversation(shop.id);
    await showConversation(shop.id, conversation);
    await tab.getByRole('button', { name: 'Files', exact: true }).click();
    await tab.getByRole('treeitem', { name: 'notes.md' }).click();
    await tab.getByRole('heading', { name: 'First' }).waitFor();
    await api('POST', `/api/conversations/${conversation}/say`, { text: 'Write it.' });
    await tab.getByRole('heading', { name: 'Second' }).waitFor();
    await tab.getByRole('treeitem', { name: 'plans' }).waitFor();
  }));

  it('that was found and removed is found no more', withShop(async ({ tab, api, shop, openProject, startConversation }) => {
    const conversation = await startConversation(shop.id);
    await api('POST', `/api/conversations/${conversation}/say`, { text: 'Write it, zebra.' });
    await until('it rests', async () => !(await api('GET', `/api/conversations/${conversation}`)).atWork);
    await openProject();
    await tab.getByRole('searchbox', { name: 'Search conversations' }).fill('zebra');
    const line = tab.locator('li.line').filter({ hasText: 'zebra' });
    await line.getByRole('button').click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await tab.getByRole('dialog', { name: /^Remove the conversation "[^"]+"/ }).getByRole('button', { name: 'Remove' }).click();
    await tab.getByText('No conversation contains these words.').waitFor();
  }));
});

describe('runs', () => {
  it('one that waits is found among more than are listed at once, and so are all of them', withShop(async ({ tab, api, shop, openProject, startRun, untilStatus }) => {
    const runs = [];
    for (let n = 0; n < 3; n += 1) {
      runs.push(await startRun(shop.id));
      await untilStatus(runs[n], 'waiting-user');
    }
    await api('POST', `/api/runs/${runs[2]}/stop`);
    // The server lists one where the page asks for two hundred.
    await tab.route('**/api/runs?*', (route) => {
      const url = new URL(route.request().url());
      const limit = Number(url.searchParams.get('limit') ?? 200);
      if (limit % 200 === 0) url.searchParams.set('limit', String(limit / 200));
      return route.continue({ url: url.href });
    });
    await openProject('runs');
    const cards = tab.locator('main .run');
    const hasCount = (count) => eventually(async () => assert.equal(await cards.count(), count));
    await tab.getByText('1 of 3 runs are shown.').waitFor();
    await hasCount(1);
    await tab.getByRole('button', { name: /^Waiting for you/ }).click();
    await tab.getByText('1 of 3 runs are shown.').waitFor();
    await tab.getByRole('button', { name: 'Show more' }).click();
    await tab.getByText('2 of 3 runs are shown.').waitFor();
    await tab.getByRole('searchbox', { name: 'Search runs' }).fill(runs[0]);
    await until('the oldest is found', async () => (await cards.first().locator('.name').getAttribute('title'))?.includes(runs[0]));
    await hasCount(1);
    await tab.getByText('Older ones are not listed here.').waitFor();
    await tab.unroute('**/api/runs?*');
    await openProject('runs');
    await hasCount(3);
    assert.equal(await tab.getByText('runs are shown').count(), 0);
  }));
});

describe('the settings', () => {
  it('keep their project over a reload', withShop(async ({ tab, openProject }) => {
    await openProject('runs');
    const rail = tab.getByRole('navigation', { name: 'Main' });
    await rail.getByRole('link', { name: 'Settings' }).click();
    await tab.getByRole('link', { name: 'Appearance' }).click();
    await tab.waitForURL(/looks/);
    await tab.reload();
    await rail.getByRole('link', { name: 'Runs' }).waitFor();
    await tab.getByRole('navigation', { name: 'Where you are' }).getByRole('link', { name: 'shop' }).waitFor();
    await tab.getByRole('link', { name: 'Back' }).click();
    await tab.getByRole('heading', { name: 'shop' }).waitFor();
  }));

  it('a switch that the browser refuses stays off, with the reason', withShop(async ({ tab, go }) => {
    await go('settings/looks');
    const notify = tab.getByRole('checkbox', { name: /Notify me/ });
    await notify.click();
    await tab.locator('.toast').getByText('The browser does not let this page show notifications.').waitFor();
    await eventually(async () => assert.equal(await notify.isChecked(), false));
  }));

  it('a switch that the server refuses stays as it was, with the reason', withShop(async ({ tab, api, go }) => {
    await api('PUT', '/api/mcp/servers/own', { way: { kind: 'stdio', command: 'true', args: [], env: [] } });
    await tab.route('**/api/**', (route) => (route.request().method() === 'PATCH' ? route.fulfill(REFUSED) : route.continue()));
    await go('settings/mcp');
    for (const name of ['Runs may use MCP servers', 'Runs may use own']) {
      const field = tab.getByRole('switch', { name });
      await field.click();
      const reason = tab.locator('.toast').getByText('It was refused.');
      await reason.waitFor();
      await until(`${name}: it is off again`, async () => !(await field.isChecked()));
      await tab.getByRole('button', { name: 'Dismiss' }).click();
      await reason.waitFor({ state: 'hidden' });
    }
  }));

  it('set in one tab hold in the other, and neither takes back what the other set', withShop(async ({ tab, context, address, go }) => {
    const other = await context.newPage();
    await other.goto(address('settings/looks'));
    await go('settings/looks');
    await other.getByRole('radio', { name: 'Dark' }).waitFor();
    await tab.getByRole('radio', { name: 'Dark' }).check();
    await until('the other is dark, too', () => other.evaluate(() => document.documentElement.dataset.theme === 'dark'));
    await other.getByRole('radio', { name: 'Compact' }).check();
    await eventually(async () => {
      const kept = await tab.evaluate(() => JSON.parse(localStorage.getItem('crewagent.prefs')));
      assert.deepEqual([kept.theme, kept.density], ['dark', 'compact']);
    });
  }));
});

describe('what a dialog is refused is reported in the dialog', () => {
  const isReported = async (tab) => {
    await tab.getByRole('dialog').getByRole('alert').waitFor();
    assert.equal(await tab.locator('.toast').count(), 0);
  };

  it('a tool server', withShop(async ({ tab, go }) => {
    await go('settings/mcp');
    await tab.getByRole('button', { name: 'Add a server' }).click();
    const dialog = tab.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('next');
    await dialog.getByRole('textbox', { name: 'Program' }).fill('true');
    await dialog.getByText('Folder and time limits').click();
    await dialog.getByLabel('Time to start').fill('soon');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await isReported(tab);
    assert.equal(await dialog.getByLabel('Time to start').inputValue(), 'soon');
  }));

  it('tool servers of another tool', withShop(async ({ tab, go }) => {
    await go('settings/mcp');
    await tab.getByRole('button', { name: 'Import from Claude, VS Code…' }).click();
    await tab.getByRole('dialog').getByLabel('JSON with mcpServers').fill('no json');
    await tab.getByRole('dialog').getByRole('button', { name: 'Look at it' }).click();
    await isReported(tab);
  }));

  it('a new package', withShop(async ({ tab, go }) => {
    await go('settings/packages');
    await tab.getByRole('button', { name: 'New package' }).click();
    await tab.getByRole('dialog').getByLabel('Folder to make for it').fill('relative/x');
    await tab.getByRole('dialog').getByRole('button', { name: 'Create package' }).click();
    await isReported(tab);
  }));
});

describe('the editor', () => {
  it('is left by the keys that it names', withShop(async ({ tab, shop, openProject }) => {
    await openProject();
    await tab.getByRole('button', { name: 'Files', exact: true }).click();
    await tab.getByRole('treeitem', { name: 'notes.md' }).click();
    await tab.getByRole('button', { name: 'Source' }).click();
    const text = tab.locator('.host .cm-content');
    await text.click();
    assert.match(await text.getAttribute('aria-description'), /press Escape, then Tab/);
    await tab.keyboard.press('Escape');
    await tab.keyboard.press('Tab');
    await eventually(async () => assert.equal(await tab.evaluate(() => document.activeElement?.closest('.host') === null), true));
    await tab.keyboard.press('?');
    await tab.getByRole('dialog').getByText('In the editor: leave it').waitFor();
    assert.equal(await readFile(join(shop.path, 'notes.md'), 'utf8'), '# First\n');
  }));
});
