/** What the user types reaches what it was meant for: answers, messages that wait, drafts. And the list does not move away from what is read. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, until } from './harness.mjs';

const words = (count) => Array.from({ length: count }, (_, at) => `w${at + 1}`).join(' ');
const slow = { characters: 6, milliseconds: 20 };
const write = (name) => ({ 'fs.write': { path: `@project/artifacts/${name}.md`, content: '# It\n' } });
const gap = (log) => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
const choice = { 'ui.ask_user': { question: 'Which one?', kind: 'choice', options: [{ value: 'a', label: 'The first' }, { value: 'b', label: 'The second' }] } };

/** Makes a test of a run whose model says these replies at the first node, in view. */
const withRun = (replies, body, { policy = '', chat = [] } = {}) =>
  withFixture({ model: { nodes: { 'step-01-intake': replies }, chat }, policy }, async (fixture) => {
    const shop = await fixture.project('shop', {}, '002-branch-greenfield');
    const run = await fixture.startRun(shop.id);
    await fixture.showRun(shop.id, run);
    const queue = fixture.tab.getByRole('list', { name: 'Waiting to be sent' });
    await body({ ...fixture, shop, run, queue, said: (text) => fixture.log.getByText(text) });
  });

describe('a message that is no answer', () => {
  it('stays in the question with the reason, and is the answer when that is wanted', withRun([{ calls: [choice] }, { say: 'I was told: {{last.words}}. What else?' }], async ({ tab, send, said }) => {
    // The numbers count without a click.
    await tab.getByRole('radio').nth(1).waitFor();
    await tab.evaluate(() => document.activeElement?.blur());
    await tab.keyboard.press('2');
    await tab.getByRole('radio', { name: 'The second' }).and(tab.locator('[aria-checked=true]')).waitFor();
    await send('Something else');
    const why = tab.getByRole('alert').filter({ hasText: 'is not one of the options' });
    await why.waitFor();
    assert.equal(await tab.getByRole('radio').count(), 2, 'the options are still there');
    await tab.reload();
    await why.getByRole('button', { name: 'Send it in my own words' }).click();
    await said('I was told: Something else.').waitFor();
    await said(/^Answered: Something else$/).waitFor();
  }));

  it('refuses a call that waits for approval only when it is meant so', withRun([{ calls: [write('one')] }, { say: 'I heard why. What else?' }], async ({ tab, send, said, shop }) => {
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    await send('why do you need it?');
    await tab.getByRole('alert').filter({ hasText: 'neither allow nor refuse' }).waitFor();
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    await tab.getByRole('button', { name: 'Refuse with these words' }).click();
    await said('I heard why.').waitFor();
    await said('Refused.').waitFor();
    assert.equal(existsSync(join(shop.path, 'artifacts/one.md')), false);
  }, { policy: 'ask = ["fs.write"]' }));
});

describe('a message that is sent while the model is at work', () => {
  it('is held by a question it was not written for, outlives a reload, and goes out once that is answered', withRun([{ say: words(900), pace: slow, calls: [choice] }, { say: 'I took it. What else?' }, { say: 'I heard you. What else?' }], async ({ tab, field, send, said, queue }) => {
    await said('w3 ').waitFor();
    await send('Mind the colours');
    await queue.getByText('on hold: there is a question').waitFor();
    await tab.getByRole('radio').nth(1).waitFor();
    await field.fill('a draft');
    await tab.reload();
    await queue.getByText('Mind the colours').waitFor();
    await eventually(async () => assert.equal(await field.inputValue(), 'a draft'));
    await tab.getByRole('radio', { name: /The second/ }).click();
    await tab.getByRole('button', { name: 'Answer' }).click();
    await said('Answered: The second').waitFor();
    await said('I heard you.').waitFor();
    await queue.waitFor({ state: 'hidden' });
    assert.equal(await said('Mind the colours').count(), 1);
    assert.equal(await field.inputValue(), 'a draft');
  }));

  it('stays where it is when the run is stopped, until the user sends it', withRun([{ say: words(40), fault: { hang: true }, times: 9 }], async ({ tab, api, run, pill, send, said, queue }) => {
    await said('w3 ').waitFor();
    await send('Mind the colours');
    await queue.getByText('queued').waitFor();
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await pill('paused').waitFor();
    // Everything that follows from the stop is there when the queue has its last word.
    await queue.getByText('not sent yet: press Send').waitFor();
    assert.equal((await api('GET', `/api/runs/${run}`)).status, 'paused', 'it stays stopped');
    await queue.getByText('Mind the colours').waitFor();
    await queue.getByRole('button', { name: 'Send' }).click();
    await said('Mind the colours').waitFor();
    await pill('running').waitFor();
    await tab.locator('[data-node].current.running').waitFor();
  }));
});

describe('a long reply', () => {
  const LONG = [{ say: `${words(1500)}?`, pace: { characters: 12, milliseconds: 20 } }, { say: 'Done. What else?' }];
  const top = (log) => log.evaluate((node) => node.scrollTop);

  it('is let go of by a small move of the bar, and what the inspector showed does not hold the list', withRun(LONG, async ({ tab, log, pill }) => {
    await until('the list is longer than the page', async () => (await top(log)) > 60);
    // A bar that is dragged sets the place, little by little.
    await log.evaluate((node) => (node.scrollTop -= 20));
    await tab.getByRole('button', { name: 'To the end' }).waitFor();
    const stays = await top(log);
    await until('the reply grows', async () => (await gap(log)) > 120);
    assert.equal(await top(log), stays);
    await tab.getByRole('tab', { name: 'Log' }).click();
    await tab.getByRole('region', { name: 'Events' }).getByRole('button').first().click();
    await tab.getByRole('button', { name: 'Show in the conversation' }).click();
    await until('its beginning is shown', async () => (await top(log)) < 40);
    await tab.getByRole('button', { name: 'To the end' }).click();
    await until('the end is held', async () => (await gap(log)) < 4);
    await tab.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    await pill('paused').waitFor();
  }));

  it('that is stopped stays where it is read, at its end', withRun(LONG, async ({ tab, log, pill }) => {
    await until('the list is longer than the page', async () => (await top(log)) > 200);
    await tab.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    await pill('paused').waitFor();
    // What says that it was stopped makes the list longer, and the next frame follows it.
    await log.getByText('Stopped.').waitFor();
    await until('the end is held', async () => (await gap(log)) < 4);
  }));

  it('that is resumed after a reload is followed to its end', withRun(LONG, async ({ tab, log, pill }) => {
    await log.getByText('w3 ').waitFor();
    await tab.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    await pill('paused').waitFor();
    await tab.reload();
    await tab.getByRole('banner').getByRole('button', { name: 'Resume' }).click();
    await until('the list is longer than the page', async () => (await top(log)) > 200);
    await until('the end is held', async () => (await gap(log)) < 40);
  }));
});

describe('a model that makes the same mistake again and again', () => {
  const stuck = { calls: [{ 'runtime.complete_node': { variables: {} } }], times: 9 };

  it('is one refusal with a count, and a card says what the user can do', withRun([stuck], async ({ tab, log, field, pill, run, events }) => {
    const card = log.getByRole('region', { name: 'The run has stopped' });
    const retry = card.getByRole('button', { name: 'Try again', exact: true });
    await retry.waitFor();
    await log.getByText(/^×\d$/).waitFor();
    assert.equal(await log.getByText('State update refused').count(), 1);
    await card.getByRole('button', { name: 'Tell it what to do' }).click();
    await eventually(async () => assert.equal(await field.evaluate((node) => document.activeElement === node), true));
    await card.getByRole('button', { name: 'Try again in strict mode' }).click();
    await until('it was resumed in strict mode', async () => (await events('runs', run)).findLast((event) => event.type === 'run.resumed')?.settings?.policy.strict === true);
    await log.getByText('Try again.', { exact: true }).waitFor();
    await until('only the last card offers anything', async () => (await card.count()) === 2 && (await retry.count()) === 1);
    await pill('waiting').waitFor();
  }));
});

describe('a burst of replies', () => {
  const burst = Array.from({ length: 24 }, (_, at) => ({ say: `${at + 1}. ${words(40 + 30 * (at % 4))}`, calls: [write(`part-${at}`)] }));

  it('is followed to its end while the window changes its size on a slow machine', withRun([...burst, { calls: [choice] }], async ({ tab, context, log }) => {
    const session = await context.newCDPSession(tab);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 6 });
    const options = tab.getByRole('radio');
    for (let at = 0; at < 30 && (await options.count()) === 0; at += 1) await tab.setViewportSize({ width: 1440 - 240 * (at % 3), height: 900 - 150 * (at % 2) });
    await options.first().waitFor();
    await until('the end is held', async () => (await gap(log)) < 4);
    await tab.setViewportSize({ width: 1440, height: 600 });
    await until('the end is held', async () => (await gap(log)) < 4);
    assert.equal(await tab.getByRole('button', { name: 'To the end' }).count(), 0);
  }));
});

describe('a conversation whose run was removed', () => {
  it('opens all the same', withFixture({ model: { nodes: { 'step-01-intake': [{ say: `${words(1500)}?`, pace: slow }] }, chat: [{ say: 'Yes.' }] } }, async (fixture) => {
    const { api, log } = fixture;
    const shop = await fixture.project('shop');
    const conversation = await fixture.startConversation(shop.id, { package: 'hello-branch' });
    const { runId } = await api('POST', `/api/conversations/${conversation}/runs`, { package: 'hello-branch' });
    await until('it is at work', async () => (await api('GET', `/api/runs/${runId}`)).atWork);
    await api('POST', `/api/conversations/${conversation}/stop`);
    await until('it rests', async () => !(await api('GET', `/api/runs/${runId}`)).atWork);
    await api('POST', `/api/conversations/${conversation}/say`, { text: '/pause' });
    await until('it is removed', async () => (await api('DELETE', `/api/runs/${runId}`)) && (await api('GET', `/api/runs/${runId}`)).code === 'not-found');
    await fixture.showConversation(shop.id, conversation);
    await log.getByText('removed', { exact: true }).waitFor();
    await fixture.send('Are you there?');
    await log.getByText('Yes.').waitFor();
  }));
});

describe('an answer that is not given yet', () => {
  const form = { 'ui.ask_user': { question: 'Who?', kind: 'form', schema: { type: 'object', properties: { name: { type: 'string', title: 'Name' }, size: { enum: ['S', 'L'] } }, required: ['name', 'size'] } } };
  const several = { 'ui.ask_user': { question: 'Which?', kind: 'choice', multi: true, options: [{ value: 'a' }, { value: 'b' }, { value: 'c' }] } };

  it('to a form is still there after a reload, and Enter gives it', withRun([{ say: 'Look.', calls: [form] }, { say: 'Thanks. What else?' }], async ({ tab, said }) => {
    await tab.getByRole('textbox', { name: /^Name/ }).fill('Ada');
    await tab.reload();
    await eventually(async () => assert.equal(await tab.getByRole('textbox', { name: /^Name/ }).inputValue(), 'Ada'));
    await tab.getByRole('button', { name: 'Answer' }).click();
    const size = tab.getByRole('combobox', { name: 'size' });
    await eventually(async () => assert.equal(await size.getAttribute('aria-invalid'), 'true'));
    await size.selectOption('L');
    await tab.getByRole('textbox', { name: /^Name/ }).press('Enter');
    await said('Thanks.').waitFor();
  }));

  it('of several options is chosen by number and arrow, and the same question is announced again', withRun([{ calls: [several] }, { calls: [several] }], async ({ tab, said }) => {
    await tab.getByRole('checkbox', { name: 'a' }).focus();
    await tab.keyboard.press('2');
    await tab.getByRole('checkbox', { name: 'b', checked: true }).waitFor();
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('Space');
    await tab.getByRole('checkbox', { name: 'c', checked: true }).waitFor();
    assert.equal(await tab.getByRole('checkbox', { checked: true }).count(), 2, 'b by its number, c as its neighbour');
    await tab.reload();
    await tab.getByRole('checkbox', { name: 'b', checked: true }).waitFor();
    await tab.getByRole('checkbox', { name: 'b' }).focus();
    await tab.keyboard.press('Enter');
    await said('Answered: b, c').waitFor();
    const spoken = tab.locator('[aria-live=polite]');
    await until('the same question is heard again', async () => /Question: Which\?/.test((await spoken.allTextContents()).join()));
    await eventually(async () => assert.notEqual(await tab.evaluate(() => document.activeElement?.tagName), 'BODY'));
    await tab.getByRole('checkbox', { name: 'a', disabled: false }).last().waitFor();
  }));

  it('to an approval keeps the reason for a refusal over a reload', withRun([{ calls: [write('one')] }], async ({ tab }) => {
    await tab.getByRole('button', { name: 'Refuse…' }).press('Enter');
    const why = tab.getByLabel('Why not?');
    await why.waitFor();
    await eventually(async () => assert.equal(await why.evaluate((node) => document.activeElement === node), true));
    await tab.keyboard.type('not this');
    await tab.reload();
    await eventually(async () => assert.equal(await why.inputValue(), 'not this'));
    await tab.getByRole('button', { name: 'Cancel' }).click();
    await eventually(async () => assert.match(await tab.evaluate(() => document.activeElement?.textContent ?? ''), /^Refuse/));
  }, { policy: 'ask = ["fs.write"]' }));
});

describe('many pages', () => {
  it('that are hidden share two streams, and one that is seen again connects', withFixture({ model: { nodes: {} } }, async ({ context, address, project }) => {
    const shop = await project('shop');
    const link = (one, name) => one.locator('footer .link', { hasText: name });
    const setHidden = (one, isHidden) =>
      one.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    const countSlots = (one) => one.evaluate(() => navigator.locks.query().then(({ held }) => held.length));
    const pages = [];
    for (let at = 0; at < 3; at += 1) {
      const one = await context.newPage();
      await one.goto(address('project', shop.id));
      await link(one, 'Connected').waitFor();
      pages.push(one);
    }
    for (const one of pages) await setHidden(one, true);
    // The last page to ask for one of the two slots; pages ask on their own, in any order.
    const idle = await until('one page has no stream', async () => {
      for (const one of pages) if (await link(one, 'Offline').count()) return one;
    });
    await eventually(async () => assert.equal(await countSlots(idle), 2));
    const holders = pages.filter((one) => one !== idle);
    for (const one of holders) assert.equal(await link(one, 'Connected').count(), 1);

    const opened = await context.newPage();
    await opened.addInitScript(() => Object.defineProperty(document, 'hidden', { configurable: true, get: () => true }));
    await opened.goto(address('project', shop.id));
    await link(opened, 'Offline').waitFor();

    for (const one of [idle, opened]) {
      await setHidden(one, false);
      await link(one, 'Connected').waitFor();
    }
    await setHidden(holders[0], false);
    await eventually(async () => assert.equal(await countSlots(idle), 1));
    await setHidden(idle, true);
    await eventually(async () => assert.equal(await countSlots(idle), 2));
    for (const one of [...pages, opened]) assert.equal(await link(one, 'Connected').count(), 1);
  }));
});
