/** Small things at the desk that must not go wrong: what was typed, what was refused, where the focus is, what is in front. */

import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { desk } from './fixture.mjs';
import { example } from './harness.mjs';
import { until } from './screens-fixture.mjs';

const MODEL = JSON.stringify({
  scenario: 'hello-branch, which asks',
  nodes: { 'step-01-intake': [{ say: 'First a question.', calls: [{ 'ui.ask_user': { question: 'What shall it do?' } }] }, { say: 'Thanks.', times: 20 }] },
});

describe('care at the desk', () => {
  let set, tab, shop, run;
  before(async () => {
    set = await desk({ model: MODEL });
    ({ tab } = set);
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
    shop = await set.project('shop', { 'windows.txt': 'one\r\ntwo\r\n', 'my notes.md': '# Notes\n', 'list.txt': 'a\n' });
    run = await set.run(shop.id, 'hello-branch');
  });
  after(() => set?.close());

  const openFile = async (name) => {
    await tab.keyboard.press('Control+p');
    await tab.getByRole('combobox', { name: 'Open a file' }).fill(name);
    await tab.getByRole('option', { name }).waitFor();
    await tab.keyboard.press('Enter');
    await tab.getByRole('tab', { name, selected: true }).waitFor();
  };
  const editor = () => tab.locator('.cm-content');

  it('a file keeps how its lines end, is saved once, and can be undone behind another tab', async () => {
    await tab.goto(`${set.server.origin}/project/${shop.id}/runs`);
    await tab.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    // It is shown where it can be seen.
    await openFile('windows.txt');
    await editor().waitFor();
    const save = tab.getByRole('button', { name: 'Save', exact: true });
    assert.equal(await save.isDisabled(), true, 'opening changes nothing');
    await editor().click();
    await tab.keyboard.press('Control+End');
    await tab.keyboard.type('three');
    const puts = [];
    tab.on('request', (request) => request.method() === 'PUT' && puts.push(request.url()));
    await tab.keyboard.press('Control+s');
    await until('it is saved', async () => (await readFile(join(shop.path, 'windows.txt'), 'utf8')) === 'one\r\ntwo\r\nthree');
    await until('the page knows', () => save.isDisabled());
    assert.equal(puts.length, 1);
    await openFile('my notes.md');
    const labelled = await tab.getByRole('tabpanel').first().getAttribute('aria-labelledby');
    assert.equal(await tab.evaluate((id) => document.getElementById(id)?.textContent?.trim(), labelled), 'my notes.md');
    await tab.keyboard.press('Alt+2');
    await tab.getByRole('tab', { name: 'windows.txt', selected: true }).waitFor();
    await editor().click();
    await tab.keyboard.press('Control+z');
    await until('it is undone', async () => !(await editor().innerText()).includes('three'));
  });

  it('a file that is gone keeps what was typed, and can be saved as new', async () => {
    await openFile('list.txt');
    await editor().click();
    await tab.keyboard.press('Control+End');
    await tab.keyboard.type('mine');
    await rm(join(shop.path, 'list.txt'));
    await openFile('windows.txt');
    await tab.getByRole('tab', { name: /list\.txt/ }).click();
    await tab.getByRole('button', { name: 'Save', exact: true }).click();
    await tab.getByRole('button', { name: 'Save as new' }).click();
    await until('it is there again', async () => (await readFile(join(shop.path, 'list.txt'), 'utf8').catch(() => '')) === 'a\nmine');
    // A closed tab gives way to its neighbour, which has the focus.
    await tab.getByRole('button', { name: 'Close tab' }).click();
    await until('the focus is with the tabs', () => tab.evaluate(() => document.activeElement?.getAttribute('aria-selected') === 'true'));
  });

  it('F6 leaves the inspector, both ways; a fitted graph stays fitted', async () => {
    await tab.setViewportSize({ width: 1440, height: 420 });
    // One of the files is not saved.
    const asked = new Promise((done) =>
      tab.once('dialog', (dialog) => {
        done(dialog.type());
        void dialog.accept();
      }),
    );
    await set.show(shop.id, run);
    assert.equal(await asked, 'beforeunload');
    await tab.locator('.graph [data-node]').first().waitFor();
    assert.match(await tab.title(), /Waiting for you/);
    const region = () => tab.evaluate(() => document.activeElement?.closest('[data-region]')?.className.split(' ').find((name) => !name.startsWith('svelte-')) ?? 'main');
    const seen = [];
    for (let at = 0; at < 6; at += 1) {
      await tab.keyboard.press('F6');
      seen.push(await region());
    }
    assert.deepEqual(new Set(seen), new Set(['top', 'rail', 'side', 'main', 'inspector', 'status']), seen.join());
    await tab.keyboard.press('Shift+F6');
    assert.equal(await region(), seen.at(-2));
    const scale = async () => Number(/scale\(([\d.]+)\)/.exec((await tab.locator('.graph svg > g').getAttribute('transform')) ?? '')?.[1]);
    const followed = await scale();
    await tab.locator('.graph').hover();
    await tab.mouse.wheel(0, 40);
    await tab.getByRole('button', { name: 'Fit', exact: true }).click();
    // All of it, though it is small; and so it stays when there is a little more room.
    await until('all of it is shown', async () => (await scale()) < followed);
    const fitted = await scale();
    await tab.setViewportSize({ width: 1440, height: 560 });
    await until('it has grown with its room', async () => (await scale()) !== fitted);
    assert.ok((await scale()) < followed);
    assert.deepEqual(set.errors.filter((error) => /effect_update_depth/.test(error)), []);
    await tab.setViewportSize({ width: 1440, height: 900 });
  });

  it('a name that was refused stays where it was typed, and the reason can be read and dismissed there', async () => {
    const { id } = await set.api('POST', '/api/conversations', { project: shop.id });
    await tab.goto(`${set.server.origin}/project/${shop.id}/work/${id}`);
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
    await tab.getByRole('button', { name: 'Dismiss' }).click({ timeout: 2000 });
    await tab.getByText('The disk is full.').waitFor({ state: 'hidden' });
    await tab.unroute('**/api/conversations/*');
    await tab.keyboard.press('Escape');
  });

  it('a workflow is started with limits and rules of its own; a rule that means nothing is told about', async () => {
    await set.api('PATCH', '/api/settings', { key: 'run.mode', value: 'guided' });
    await set.api('PATCH', '/api/settings', { key: 'run.max-turns', value: 41 });
    const { id } = await set.project('held');
    await tab.goto(`${set.server.origin}/project/${id}/launch?package=hello-branch`);
    const form = tab.locator('main form');
    await form.getByRole('radio', { name: 'Guided' }).and(tab.locator(':checked')).waitFor();
    await form.getByText('Limits and tools').click();
    assert.equal(await form.getByLabel('Turns').getAttribute('placeholder'), '41');
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
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await tab.waitForURL(/\/run\//);
    const run = new URL(tab.url()).pathname.split('/').at(-1);
    const { events } = await set.api('GET', `/api/runs/${run}/events?limit=1`);
    const { mode, limits, policy } = events[0].settings;
    assert.deepEqual({ mode, limits }, { mode: 'guided', limits: { turns: 41, tokens: 90000, cost: 0.5 } });
    assert.match(JSON.stringify(policy), /fs\.search/);
    assert.match(JSON.stringify(policy), /@project\/src/);
    await set.api('PATCH', '/api/settings', { key: 'run.mode', value: null });
    await set.api('PATCH', '/api/settings', { key: 'run.max-turns', value: null });
  });

  it('a new screen has its name in the title, and its heading has the focus', async () => {
    await set.show(shop.id, run);
    await tab.getByRole('link', { name: 'Packages' }).click();
    await until('the heading has the focus', () => tab.evaluate(() => document.activeElement?.tagName === 'H1'));
    assert.match(await tab.title(), /Packages · shop/);
  });

  it('a page that is not let in any more says so', async () => {
    await set.context.clearCookies();
    await tab.getByRole('link', { name: 'Runs' }).click();
    await tab.getByRole('heading', { name: 'This browser was not let in' }).waitFor();
  });
});
