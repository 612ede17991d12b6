/** Files and their tabs, the focus, the title, a graph that fits its frame, a refused name, and what a workflow is started with. */

import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, until } from './harness.mjs';

const MODEL = { nodes: { 'step-01-intake': [{ say: 'First a question.', calls: [{ 'ui.ask_user': { question: 'What shall it do?' } }] }, { say: 'Thanks. What else?', times: 20 }] } };

/** Makes a test of a project with a few files. */
const withShop = (body, options = {}) =>
  withFixture({ model: MODEL, ...options }, async (fixture) => {
    const { tab } = fixture;
    const shop = await fixture.project('shop', { 'windows.txt': 'one\r\ntwo\r\n', 'my notes.md': '# Notes\n', 'list.txt': 'a\n' });
    const openFile = async (name) => {
      await tab.keyboard.press('Control+p');
      await tab.getByRole('combobox', { name: 'Open a file' }).fill(name);
      await tab.getByRole('option', { name }).waitFor();
      await tab.keyboard.press('Enter');
      await tab.getByRole('tab', { name, selected: true }).waitFor();
    };
    /** Opens a file from the list of runs, which shows it where it can be seen. */
    const openFirst = async (name) => {
      await fixture.go('project', shop.id, 'runs');
      await tab.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
      await openFile(name);
      await tab.locator('.cm-content').waitFor();
    };
    /** Opens a run that waits for an answer. */
    const openRun = async () => {
      const run = await fixture.startRun(shop.id);
      await fixture.showRun(shop.id, run);
      await fixture.pill('waiting').waitFor();
    };
    await body({ ...fixture, shop, openFile, openFirst, openRun, editor: tab.locator('.cm-content'), save: tab.getByRole('button', { name: 'Save', exact: true }) });
  });

describe('a file', () => {
  it('keeps how its lines end, and is saved once', withShop(async ({ tab, shop, openFirst, editor, save }) => {
    await openFirst('windows.txt');
    assert.equal(await save.isDisabled(), true, 'opening changes nothing');
    await editor.click();
    await tab.keyboard.press('Control+End');
    await tab.keyboard.type('three');
    await until('it can be saved', () => save.isEnabled());
    const puts = [];
    tab.on('request', (request) => request.method() === 'PUT' && puts.push(request.url()));
    await tab.keyboard.press('Control+s');
    await until('it is saved', async () => (await readFile(join(shop.path, 'windows.txt'), 'utf8')) === 'one\r\ntwo\r\nthree');
    await until('the page knows', () => save.isDisabled());
    assert.equal(puts.length, 1);
  }));

  it('can be undone after another tab was in front', withShop(async ({ tab, openFirst, openFile, editor }) => {
    await openFirst('windows.txt');
    await editor.click();
    await tab.keyboard.press('Control+End');
    await tab.keyboard.type('three');
    await editor.getByText('three').waitFor();
    await openFile('my notes.md');
    const labelled = await tab.getByRole('tabpanel').first().getAttribute('aria-labelledby');
    await eventually(async () => assert.equal(await tab.evaluate((id) => document.getElementById(id)?.textContent?.trim(), labelled), 'my notes.md'));
    await tab.keyboard.press('Alt+2');
    await tab.getByRole('tab', { name: 'windows.txt', selected: true }).waitFor();
    await editor.click();
    await tab.keyboard.press('Control+z');
    await until('it is undone', async () => !(await editor.innerText()).includes('three'));
  }));

  it('that is gone keeps what was typed, and can be saved as new', withShop(async ({ tab, shop, openFirst, openFile, editor, save }) => {
    await openFirst('list.txt');
    await editor.click();
    await tab.keyboard.press('Control+End');
    await tab.keyboard.type('mine');
    await until('it can be saved', () => save.isEnabled());
    await rm(join(shop.path, 'list.txt'));
    await openFile('windows.txt');
    await tab.getByRole('tab', { name: /list\.txt/ }).click();
    await save.click();
    await tab.getByRole('button', { name: 'Save as new' }).click();
    await until('it is there again', async () => (await readFile(join(shop.path, 'list.txt'), 'utf8').catch(() => '')) === 'a\nmine');
  }));

  it('whose tab is closed gives way to its neighbour, which has the focus', withShop(async ({ tab, openFirst, openFile }) => {
    await openFirst('windows.txt');
    await openFile('list.txt');
    await tab.getByRole('tab', { name: 'list.txt' }).locator('.x').click();
    await tab.getByRole('tab', { name: 'list.txt' }).waitFor({ state: 'detached' });
    await until('the focus is with the tabs', () => tab.evaluate(() => document.activeElement?.getAttribute('aria-selected') === 'true'));
  }));

  it('that is not saved makes the page ask before it is left', withShop(async ({ tab, go, openFirst, editor, save }) => {
    await openFirst('windows.txt');
    await editor.click();
    await tab.keyboard.type('mine');
    await until('it can be saved', () => save.isEnabled());
    const asked = new Promise((done) =>
      tab.once('dialog', (dialog) => {
        done(dialog.type());
        void dialog.accept();
      }),
    );
    await go();
    assert.equal(await asked, 'beforeunload');
  }));
});

describe('the focus', () => {
  it('F6 leaves the inspector, both ways', withShop(async ({ tab, openRun }) => {
    await openRun();
    await tab.locator('.graph [data-node]').first().waitFor();
    await eventually(async () => assert.match(await tab.title(), /Waiting for you/));
    const region = () => tab.evaluate(() => document.activeElement?.closest('[data-region]')?.className.split(' ').find((name) => !name.startsWith('svelte-')) ?? 'main');
    const seen = [];
    for (let at = 0; at < 6; at += 1) {
      await tab.keyboard.press('F6');
      seen.push(await region());
    }
    assert.deepEqual(new Set(seen), new Set(['top', 'rail', 'side', 'main', 'inspector', 'status']), seen.join());
    await tab.keyboard.press('Shift+F6');
    assert.equal(await region(), seen.at(-2));
  }));

  it('a new screen has its name in the title, and its heading has the focus', withShop(async ({ tab, openRun }) => {
    await openRun();
    await tab.getByRole('link', { name: 'Packages' }).click();
    await until('the heading has the focus', () => tab.evaluate(() => document.activeElement?.tagName === 'H1'));
    await eventually(async () => assert.match(await tab.title(), /Packages · shop/));
  }));
});

describe('a graph', () => {
  it('that was fitted stays fitted', withShop(async ({ tab, openRun }) => {
    await tab.setViewportSize({ width: 1440, height: 420 });
    await openRun();
    await tab.locator('.graph [data-node]').first().waitFor();
    const scale = async () => Number(/scale\(([\d.]+)\)/.exec((await tab.locator('.graph svg > g').getAttribute('transform')) ?? '')?.[1]);
    const followed = await until('the graph follows the run', scale);
    await tab.locator('.graph').hover();
    await tab.mouse.wheel(0, 40);
    await tab.getByRole('button', { name: 'Fit', exact: true }).click();
    // All of it, though it is small; and so it stays when there is a little more room.
    await until('all of it is shown', async () => (await scale()) < followed);
    const fitted = await scale();
    await tab.setViewportSize({ width: 1440, height: 560 });
    await until('it has grown with its room', async () => (await scale()) !== fitted);
    assert.ok((await scale()) < followed);
  }));
});

describe('a name that was refused', () => {
  it('stays where it was typed, and the reason can be read and dismissed there', withShop(async ({ tab, shop, startConversation, showConversation }) => {
    await showConversation(shop.id, await startConversation(shop.id));
    await tab.route('**/api/conversations/*', (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 500, contentType: 'application/json', body: '{"code":"disk","message":"The disk is full."}' }) : route.continue(),
    );
    await tab.locator('.line.on').hover();
    await tab.locator('.line.on').getByRole('button').click();
    const dialog = tab.getByRole('dialog');
    await dialog.getByRole('textbox').fill('A better name');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await tab.getByText('The disk is full.').waitFor();
    assert.equal(await dialog.getByRole('textbox').inputValue(), 'A better name');
    await tab.getByRole('button', { name: 'Dismiss' }).click();
    await tab.getByText('The disk is full.').waitFor({ state: 'hidden' });
  }, { allowedErrors: /status of [45]\d\d/ }));
});

describe('a workflow', () => {
  it('is started with limits and rules of its own; a rule that means nothing is refused', withShop(async ({ tab, api, go, shop }) => {
    await api('PATCH', '/api/settings', { key: 'run.mode', value: 'guided' });
    await api('PATCH', '/api/settings', { key: 'run.max-turns', value: 41 });
    await go('project', shop.id, 'launch?package=hello-branch');
    const form = tab.locator('main form');
    await form.getByRole('radio', { name: 'Guided' }).and(tab.locator(':checked')).waitFor();
    await form.getByText('Limits and tools').click();
    await eventually(async () => assert.equal(await form.getByLabel('Turns').getAttribute('placeholder'), '41'));
    await form.getByLabel('Tokens').fill('90000');
    await form.getByLabel('Cost in USD').fill('none');
    assert.equal(await form.evaluate((node) => node.checkValidity()), false);
    await form.getByLabel('Cost in USD').fill('0.50');
    await form.getByLabel('Ask before these tools').fill('fs.write(@project/src), fs.apply_patch');
    await form.getByLabel('Never use these tools').fill('fs.sarch');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await tab.getByText(/fs\.sarch/).first().waitFor();
    assert.match(tab.url(), /launch/, 'nothing was started');
    await form.getByLabel('Never use these tools').fill('fs.search');
    await form.getByLabel('What do you want?').fill('It is about a shop.');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await tab.waitForURL(/\/run\//);
    const run = new URL(tab.url()).pathname.split('/').at(-1);
    const { events } = await api('GET', `/api/runs/${run}/events?limit=50`);
    assert.equal(events.find((event) => event.type === 'user.input')?.text, 'It is about a shop.');
    const { mode, limits, policy } = events[0].settings;
    assert.deepEqual({ mode, limits }, { mode: 'guided', limits: { turns: 41, tokens: 90000, cost: 0.5 } });
    assert.match(JSON.stringify(policy), /fs\.search/);
    assert.match(JSON.stringify(policy), /@project\/src/);
  }));
});

describe('a page that is not let in any more', () => {
  it('says so', withShop(async ({ tab, context, openRun }) => {
    await openRun();
    await context.clearCookies();
    // The page may find out by itself at any moment, so the link may be gone.
    await tab.evaluate(() => document.querySelector('nav a[title=Runs]')?.click());
    await tab.getByRole('heading', { name: 'This browser was not let in' }).waitFor();
  }));
});
