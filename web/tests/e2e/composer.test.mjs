/** What people say and type goes where they meant it, and nothing of it is lost. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, browser, example, page, project, scratch, serve, settled, useModel } from './harness.mjs';
import { until } from './screens-fixture.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const words = (count) => Array.from({ length: count }, (_, at) => `w${at + 1}`).join(' ');
const write = (name) => ({ 'fs.write': { path: `@project/artifacts/${name}.md`, content: '# It\n' } });
const choice = { 'ui.ask_user': { question: 'Which one?', kind: 'choice', options: [{ value: 'a', label: 'The first' }, { value: 'b', label: 'The second' }] } };

/** A server whose model says these replies at the first node, and these in a conversation; and a page. */
async function stage(replies, chat = [], policy = '') {
  const place = await scratch();
  const script = join(place.folder, 'model.yaml');
  await writeFile(script, JSON.stringify({ scenario: 'care', nodes: { 'step-01-intake': replies }, chat }));
  await useModel(place.home, `scripted:${script}`, policy);
  const server = await serve(place.home);
  const chrome = await browser();
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  const { tab, errors } = await page(context, server);
  const api = (method, path, body) => ask(tab, method, path, body);
  await api('POST', '/api/packages/import', { path: example('hello-branch') });
  const path = await project(place.folder, 'shop', '002-branch-greenfield');
  const { id } = await api('POST', '/api/projects', { path });
  const open = async () => {
    const { runId } = await api('POST', '/api/runs', { project: id, package: 'hello-branch' });
    await tab.goto(`${server.origin}/project/${id}/run/${runId}`);
    return runId;
  };
  const close = async () => {
    await chrome.close();
    await server.kill();
    await place.remove();
  };
  return { server, context, tab, errors, api, path, id, open, close };
}

const field = (tab) => tab.getByRole('textbox', { name: 'Message' });
const queue = (tab) => tab.getByRole('list', { name: 'Waiting to be sent' });
const reply = (tab, text) => tab.getByRole('log').getByText(text);

describe('words that are no answer', () => {
  let set;
  const leave = (name) => ({ calls: [write(name)] });
  before(async () => (set = await stage([{ calls: [choice] }, { say: 'I was told: {{last.words}}.' }, leave('one'), { say: 'I heard why.' }], [], 'ask = ["fs.write"]')));
  after(() => set?.close());

  it('stay in the question with the reason, and are the answer when that is wanted', async () => {
    const { tab } = set;
    await set.open();
    // The numbers count without a click.
    await tab.getByRole('radio').first().waitFor();
    await tab.evaluate(() => document.activeElement?.blur());
    await tab.keyboard.press('2');
    await tab.getByRole('radio', { name: 'The second' }).and(tab.locator('[aria-checked=true]')).waitFor();
    await field(tab).fill('Something else');
    await tab.keyboard.press('Enter');
    const why = tab.getByRole('alert').filter({ hasText: 'is not one of the options' });
    await why.waitFor();
    assert.equal(await tab.getByRole('radio').count(), 2, 'the options are still there');
    await tab.reload();
    await why.getByRole('button', { name: 'Send it in my own words' }).click();
    await reply(tab, 'I was told: Something else.').waitFor();
    await reply(tab, /^Answered: Something else$/).waitFor();
  });

  it('refuse a call that waits for leave only when they are meant so', async () => {
    const { tab, path } = set;
    await field(tab).fill('Go on');
    await tab.keyboard.press('Enter');
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    await field(tab).fill('why do you need it?');
    await tab.keyboard.press('Enter');
    await tab.getByRole('alert').filter({ hasText: 'once, run, or deny' }).waitFor();
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    await tab.getByRole('button', { name: 'Refuse with these words' }).click();
    await reply(tab, 'I heard why.').waitFor();
    await reply(tab, 'Refused.').waitFor();
    assert.equal(existsSync(join(path, 'artifacts/one.md')), false);
  });
});

describe('two calls that need consent', () => {
  let set;
  before(async () => (set = await stage([{ calls: [write('one'), write('two')] }, { say: 'Both were looked at.' }], [], 'ask = ["fs.write"]')));
  after(() => set?.close());

  it('a double click allows one of them', async () => {
    const { tab, path } = set;
    await set.open();
    await tab.getByRole('button', { name: 'Allow once' }).dblclick();
    await until('the first is written', () => existsSync(join(path, 'artifacts/one.md')));
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    await reply(tab, 'artifacts/two.md').first().waitFor();
    assert.equal(existsSync(join(path, 'artifacts/two.md')), false);
    assert.equal(await tab.getByText('this question waits for no answer any more').count(), 0);
    // Two cards of the same kind are no two places of the same name.
    await tab.evaluate(axe);
    const found = await tab.evaluate(() => globalThis.axe.run({ runOnly: ['landmark-unique'] }));
    assert.deepEqual(found.violations.flatMap((one) => one.nodes.map((node) => node.html)), []);
  });
});

describe('words that were said while the model is at work', () => {
  let set;
  before(async () => {
    const slow = { characters: 6, milliseconds: 20 };
    set = await stage([{ say: words(300), pace: slow, calls: [choice] }, { say: 'I took it.' }, { say: 'I heard you.' }]);
  });
  after(() => set?.close());

  it('are held by a question they were not written for, outlive a reload, and go out once it is answered', async () => {
    const { tab } = set;
    await set.open();
    await reply(tab, 'w3 ').waitFor();
    await field(tab).fill('Mind the colours');
    await field(tab).press('Enter');
    await queue(tab).getByText('queued').waitFor();
    await queue(tab).getByText('on hold: there is a question').waitFor();
    await tab.getByRole('radio').nth(1).waitFor();
    await field(tab).fill('a draft');
    await tab.reload();
    await queue(tab).getByText('Mind the colours').waitFor();
    assert.equal(await field(tab).inputValue(), 'a draft');
    await tab.getByRole('radio', { name: /The second/ }).click();
    await tab.getByRole('button', { name: 'Answer' }).click();
    await reply(tab, 'Answered: The second').waitFor();
    await reply(tab, 'Mind the colours').waitFor();
    await until('the queue is empty', async () => (await queue(tab).count()) === 0);
    assert.equal(await reply(tab, 'Mind the colours').count(), 1);
    assert.equal(await field(tab).inputValue(), 'a draft');
  });
});

describe('words that wait when the run is stopped', () => {
  let set;
  before(async () => (set = await stage([{ say: words(600), pace: { characters: 6, milliseconds: 20 } }, { say: 'I heard you.', times: 9 }])));
  after(() => set?.close());

  it('stay where they are until the user sends them', async () => {
    const { tab } = set;
    await set.open();
    await reply(tab, 'w3 ').waitFor();
    await field(tab).fill('Mind the colours');
    await field(tab).press('Enter');
    await queue(tab).getByText('queued').waitFor();
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await tab.locator('header .pill.paused').waitFor();
    await settled(tab);
    assert.equal(await tab.locator('header .pill.paused').count(), 1, 'it stays stopped');
    await queue(tab).getByText('Mind the colours').waitFor();
    await queue(tab).getByRole('button', { name: 'Send' }).click();
    await reply(tab, 'Mind the colours').waitFor();
    await tab.locator('header .pill.running').waitFor();
    await tab.locator('[data-node].current.running').waitFor();
  });
});

describe('a long reply', () => {
  let set;
  before(async () => (set = await stage([{ say: words(1500), pace: { characters: 12, milliseconds: 20 } }, { say: 'Done.' }], [{ say: 'Yes.' }])));
  after(() => set?.close());

  const top = (tab) => tab.getByRole('log').evaluate((log) => log.scrollTop);
  const gap = (tab) => tab.getByRole('log').evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);

  it('is let go of by a small move of the bar, and what the inspector showed does not hold the list', async () => {
    const { tab } = set;
    await set.open();
    await until('the list is longer than the page', async () => (await top(tab)) > 60);
    // A bar that is dragged sets the place, little by little.
    await tab.getByRole('log').evaluate((log) => (log.scrollTop -= 20));
    await tab.getByRole('button', { name: 'To the end' }).waitFor();
    const stays = await top(tab);
    await until('the reply grows', async () => (await gap(tab)) > 120);
    assert.equal(await top(tab), stays);
    await tab.getByRole('tab', { name: 'Log' }).click();
    await tab.getByRole('region', { name: 'Events' }).getByRole('button').first().click();
    await tab.getByRole('button', { name: 'Show in the conversation' }).click();
    await until('its beginning is shown', async () => (await top(tab)) < 40);
    await tab.getByRole('button', { name: 'To the end' }).click();
    await until('the end is held', async () => (await gap(tab)) < 4);
    await tab.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    await tab.locator('header .pill.paused').waitFor();
  });

  it('that is stopped stays where it is read, at its end', async () => {
    const { tab } = set;
    await tab.reload();
    await tab.getByRole('banner').getByRole('button', { name: 'Resume' }).click();
    await until('the list is longer than the page', async () => (await top(tab)) > 200);
    await tab.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    await tab.locator('header .pill.paused').waitFor();
    // What says that it was stopped makes the list longer, and the next frame follows it.
    await until('the end is held', async () => (await gap(tab)) < 4);
  });

  it('a conversation opens when its run was removed', async () => {
    const { tab, api, id, server } = set;
    const { id: talk } = await api('POST', '/api/conversations', { project: id, package: 'hello-branch' });
    const { runId } = await api('POST', `/api/conversations/${talk}/runs`, { package: 'hello-branch' });
    await until('it is at work', async () => (await api('GET', `/api/runs/${runId}`)).atWork);
    await api('POST', `/api/conversations/${talk}/stop`);
    await until('it rests', async () => !(await api('GET', `/api/runs/${runId}`)).atWork);
    await api('POST', `/api/conversations/${talk}/say`, { text: '/pause' });
    await api('DELETE', `/api/runs/${runId}`);
    await tab.goto(`${server.origin}/project/${id}/work/${talk}`);
    await tab.getByRole('log').getByText('removed', { exact: true }).waitFor();
    await field(tab).fill('Are you there?');
    await field(tab).press('Enter');
    await reply(tab, 'Yes.').waitFor();
  });
});

describe('an answer that is not given yet', () => {
  let set;
  const field = { type: 'string', title: 'Name' };
  before(async () => {
    set = await stage([
      { say: 'Look.', calls: [{ 'ui.ask_user': { question: 'Who?', kind: 'form', schema: { type: 'object', properties: { name: field, size: { enum: ['S', 'L'] } }, required: ['name', 'size'] } } }] },
      { calls: [{ 'ui.ask_user': { question: 'Which?', kind: 'choice', multi: true, options: [{ value: 'a' }, { value: 'b' }, { value: 'c' }] } }] },
      { calls: [{ 'ui.ask_user': { question: 'Which?', kind: 'choice', multi: true, options: [{ value: 'a' }, { value: 'b' }, { value: 'c' }] } }] },
      { calls: [write('one')] },
    ], [], 'ask = ["fs.write"]');
  });
  after(() => set?.close());

  it('is still there after a reload, and can be given with the keyboard alone', async () => {
    const { tab } = set;
    const spoken = tab.locator('[aria-live=polite]');
    await set.open();
    await tab.getByLabel('Name').fill('Ada');
    await tab.reload();
    assert.equal(await tab.getByLabel('Name').inputValue(), 'Ada');
    await tab.getByRole('button', { name: 'Answer' }).click();
    assert.equal(await tab.getByRole('combobox', { name: 'size' }).getAttribute('aria-invalid'), 'true');
    await tab.getByRole('combobox', { name: 'size' }).selectOption('L');
    await tab.getByLabel('Name').press('Enter');
    await tab.getByRole('checkbox', { name: 'b' }).waitFor();
    await tab.getByRole('checkbox', { name: 'a' }).focus();
    await tab.keyboard.press('2');
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('Space');
    const chosen = () => tab.getByRole('checkbox', { checked: true }).count();
    assert.equal(await chosen(), 2, 'b by its number, c as its neighbour');
    await tab.reload();
    await tab.getByRole('checkbox', { name: 'b', checked: true }).waitFor();
    await tab.getByRole('checkbox', { name: 'b' }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('log').getByText('Answered: b, c').waitFor();
    await until('the same question is heard again', async () => /Question: Which\?/.test((await spoken.allTextContents()).join()));
    assert.notEqual(await tab.evaluate(() => document.activeElement?.tagName), 'BODY');
    await tab.getByRole('checkbox', { name: 'a', disabled: false }).last().click();
    await tab.getByRole('button', { name: 'Answer' }).click();
    await tab.getByRole('button', { name: 'Refuse…' }).focus();
    await tab.keyboard.press('Enter');
    await tab.keyboard.type('not this');
    await tab.reload();
    assert.equal(await tab.getByLabel('Why not?').inputValue(), 'not this');
    await tab.getByRole('button', { name: 'Cancel' }).click();
    assert.match(await tab.evaluate(() => document.activeElement?.textContent ?? ''), /^Refuse/);
  });
});

describe('many pages', () => {
  let set;
  before(async () => (set = await stage([{ say: 'Hello.' }])));
  after(() => set?.close());

  it('that nobody sees share two streams, and one that is seen again goes on', async () => {
    const { context, server, id } = set;
    const connection = (one, name) => one.locator('footer').getByText(name, { exact: true });
    const seen = (one, isSeen) =>
      one.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => !value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isSeen);
    const pages = [];
    for (let at = 0; at < 3; at += 1) {
      const one = await context.newPage();
      await one.goto(`${server.origin}/project/${id}`);
      await connection(one, 'Connected').waitFor();
      await one.waitForLoadState('networkidle', { timeout: 1000 }).catch(() => undefined);
      pages.push(one);
    }
    for (const one of pages) await seen(one, false);
    await pages[2].locator('footer').getByText('Offline').waitFor();
    for (const one of pages.slice(0, 2)) assert.equal(await connection(one, 'Connected').count(), 1);
    await seen(pages[2], true);
    await connection(pages[2], 'Connected').waitFor();
  });
});
