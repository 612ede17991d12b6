/** What the page does when the server, the network or the computer goes away; two pages on one run; and Stop. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { withFixture, withProvider } from './fixture.mjs';
import { eventually, simpleToolServer, until } from './harness.mjs';

/** Returns so many words, each of which is there once. */
const words = (count, from = 1) => Array.from({ length: count }, (_, at) => `w${from + at}`).join(' ');
const WHOLE = `${words(300)}?`;
const BEGINNING = `${words(60)} `;
const REST = `${words(240, 61)}?`;

const replies = (tab) => tab.locator('[role=log] article .md');
const readReply = async (tab) => ((await replies(tab).allTextContents()).at(-1) ?? '').trim();
const untilReply = (tab, word) => until(`${word} is shown`, async () => (await readReply(tab)).includes(word));
const untilWhole = (tab) => until('the reply is whole', async () => (await readReply(tab)) === WHOLE);
const connection = (tab, name) => tab.locator('footer').getByText(name, { exact: true });
const untilDisconnected = (tab) => connection(tab, 'Reconnecting…').or(connection(tab, 'Offline')).first().waitFor();
const mark = (tab) => tab.evaluate(() => void (globalThis.mark = 1));
const assertSamePage = async (tab) => assert.equal(await tab.evaluate(() => globalThis.mark), 1, 'the page was not loaded anew');

/** Notes whatever is shown of the last reply that is not the beginning of what the model says. */
const watchReply = (tab, whole) =>
  tab.evaluate((expected) => {
    globalThis.wrong = [];
    const look = () => {
      const shown = [...document.querySelectorAll('[role=log] article .md')].at(-1)?.textContent.trim() ?? '';
      if (!expected.startsWith(shown)) globalThis.wrong.push(shown.slice(-60));
      requestAnimationFrame(painted);
    };
    // What is there behind a frame was seen.
    const painted = () => setTimeout(look);
    look();
  }, whole);
const assertNothingWrong = async (tab) => assert.deepEqual(await tab.evaluate(() => globalThis.wrong), []);

/** Adds a run in view to a fixture. */
async function openRun(fixture) {
  const shop = await fixture.project('shop', {}, '002-branch-greenfield');
  const run = await fixture.startRun(shop.id);
  await fixture.showRun(shop.id, run);
  return { ...fixture, shop, run };
}

/** Makes a test of a run whose model says these replies at the first node, in view. */
const withRun = (says, body) => withFixture({ model: { nodes: { 'step-01-intake': says } } }, async (fixture) => body(await openRun(fixture)));

/** Makes a test of a run in view. The first 60 words of its first reply are shown, and the test says the rest. */
const withReply = (body) =>
  withProvider(async (fixture) => {
    const opened = await openRun(fixture);
    const { tab, provider } = opened;
    const reply = await provider.nextRequest();
    reply.say(BEGINNING);
    await untilReply(tab, 'w60');
    await mark(tab);
    await body({ ...opened, reply });
  });

const HANGS = [{ say: words(40), fault: { hang: true }, times: 9 }];

describe('a server that is killed in the middle of a reply', () => {
  it('is come back to in the same page, and every word is there once', withReply(async ({ tab, server, provider, pill, log }) => {
    await watchReply(tab, WHOLE);
    await server.crash();
    await untilDisconnected(tab);
    assert.match(await readReply(tab), /w60/, 'what was read stays while the server is away');
    await server.restart();
    await connection(tab, 'Connected').waitFor();
    await pill('paused').waitFor();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    const again = await provider.nextRequest();
    again.say(BEGINNING);
    again.end(REST);
    await untilWhole(tab);
    await pill('waiting').waitFor();
    assert.equal(await readReply(tab), WHOLE);
    assert.equal((await log.textContent()).split('w1 w2 ').length, 2, 'the reply is there once');
    await assertNothingWrong(tab);
    await assertSamePage(tab);
  }));
});

describe('a run that its process left', () => {
  it('says where it was interrupted and why, in the run, in the lists and on a narrow page', withRun(HANGS, async ({ tab, go, server, shop, run, pill }) => {
    await untilReply(tab, 'w20');
    await server.crash();
    await server.restart();
    await tab.reload();
    const why = /It was interrupted at .+: its process ended\. Nothing is lost; choose Resume to go on\./;
    await tab.getByRole('status').filter({ hasText: why }).getByRole('button', { name: 'Resume' }).waitFor();
    await pill('paused').getByText('Interrupted', { exact: true }).waitFor();
    await tab.keyboard.press('Control+k');
    await tab.getByRole('dialog').getByRole('combobox').fill('Resume');
    await tab.getByRole('option', { name: /^Resume/ }).waitFor();
    for (const [width, path] of [[1440, 'runs'], [390, 'runs'], [1440, ''], [390, '']]) {
      await tab.setViewportSize({ width, height: 800 });
      await go('project', shop.id, path);
      const said = tab.locator('main').getByText(/its process ended/);
      await said.waitFor();
      await until(`all of it can be read at ${width} px`, () => said.evaluate((one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 1));
      await tab.locator('main').getByText('hello-branch').first().waitFor();
    }
  }));
});

describe('a run that is at work', () => {
  for (const [link, title] of [['Settings', 'Models'], ['CrewAgent', 'Start']]) {
    it(`is left for ${link} without an error`, withRun(HANGS, async ({ tab, pill }) => {
      await pill('running').waitFor();
      await tab.getByRole('link', { name: link, exact: true }).click();
      await tab.getByRole('heading', { name: title, exact: true }).waitFor();
    }));
  }
});

describe('two pages on one run', () => {
  const question = { 'ui.ask_user': { question: 'Which one?', kind: 'choice', options: [{ value: 'a', label: 'The first' }, { value: 'b', label: 'The second' }] } };
  const STREAMS = { say: WHOLE, pace: { characters: 12, milliseconds: 10 }, fault: { hang: true } };

  it('an answer in one closes the question in the other, both stream, and Stop stops both', withRun([{ calls: [question] }, STREAMS], async ({ tab, context, errors, pill }) => {
    const other = await context.newPage();
    other.on('pageerror', (error) => errors.push(String(error)));
    await other.goto(tab.url());
    const pages = [tab, other];
    const draft = other.getByRole('textbox', { name: 'Message' });
    for (const one of pages) await one.getByRole('radio', { name: /The second/ }).waitFor();
    await draft.fill('a draft that was not sent');
    await tab.getByRole('radio', { name: /The second/ }).dblclick();
    for (const one of pages) {
      await one.getByRole('log').getByText('Answered: The second').waitFor();
      await one.getByRole('radio').first().waitFor({ state: 'detached' });
      await untilReply(one, 'w4');
      await watchReply(one, WHOLE);
    }
    for (const one of pages) await untilReply(one, 'w120');
    assert.equal(await draft.inputValue(), 'a draft that was not sent');
    await other.bringToFront();
    await other.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    for (const one of pages) {
      await one.locator('header .pill.paused').waitFor();
      await one.getByRole('log').getByText('Stopped.').waitFor();
      await assertNothingWrong(one);
    }
    await pill('paused').waitFor();
    assert.equal(await draft.inputValue(), 'a draft that was not sent');
  }));
});

describe('Stop', () => {
  const stop = async (tab, pill) => {
    await tab.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    await pill('running').waitFor({ state: 'detached' });
  };

  it('ends a reply, and what was read stays, also after a reload', withRun(HANGS, async ({ tab, log, pill }) => {
    await untilReply(tab, 'w20');
    await stop(tab, pill);
    const half = log.locator('article', { hasText: 'You stopped the reply here.' }).last();
    for (const look of ['at once', 'after a reload']) {
      if (look === 'after a reload') await tab.reload();
      await log.getByText('Stopped.').waitFor();
      await half.waitFor();
      assert.match((await half.textContent()) ?? '', /w1 w2 .*w20 /s, look);
    }
  }));

  it('ends the call of a tool', withFixture({ model: { nodes: {}, chat: [{ say: 'I wait.', calls: [{ 'mcp.slow.wait': {} }] }] } }, async ({ tab, api, log, pill, send, project, startConversation, showConversation, events }) => {
    const [command, ...args] = simpleToolServer();
    await api('PUT', '/api/mcp/servers/slow', { way: { kind: 'stdio', command, args }, enabled: true });
    await api('PATCH', '/api/settings', { key: 'policy.mcp.enabled', value: true });
    const shop = await project('shop');
    const conversation = await startConversation(shop.id);
    await showConversation(shop.id, conversation);
    await send('Wait');
    await log.getByText('I wait.').waitFor();
    await until('the call is at work', async () => (await events('conversations', conversation)).some((event) => event.type === 'tool.started'));
    await stop(tab, pill);
  }));

  it('ends the wait for a provider that is down', withFixture({ config: '[run]\nmodel = "down"\n[models.down]\nmodel = "none"\nprofile = "generic"\nbase-url = "http://127.0.0.1:9/v1"\nkey = "none"\nretries = 100\n' }, async (fixture) => {
    const { tab, log, pill } = await openRun(fixture);
    await log.getByText(/again/i).first().waitFor();
    await stop(tab, pill);
  }));
});

describe('a network that comes and goes', () => {
  it('a message that is sent offline is not lost, and what was missed is caught up with', withReply(async ({ tab, context, run, log, send, reply, provider, untilStatus }) => {
    await context.setOffline(true);
    await untilDisconnected(tab);
    // It waits for the reply to end, which the page does not hear of.
    await send('and then');
    await tab.getByRole('list', { name: 'Waiting to be sent' }).getByText('and then').waitFor();
    reply.end(REST);
    await untilStatus(run, 'waiting-user');
    await context.setOffline(false);
    await connection(tab, 'Connected').waitFor();
    (await provider.nextRequest()).end('I heard it. What else?');
    await log.getByText('I heard it.').waitFor();
    assert.ok((await replies(tab).allTextContents()).some((one) => one.trim() === WHOLE), 'the reply is whole');
    assert.equal((await log.textContent()).split('and then').length - 1, 1);
    await assertSamePage(tab);
  }));

  it('a message that cannot be sent stays in the field, with the reason', withRun([{ say: 'Ready?' }], async ({ tab, context, log, field, pill, send }) => {
    await pill('waiting').waitFor();
    await context.setOffline(true);
    await send('not heard');
    await tab.getByText('The CrewAgent server does not answer.').first().waitFor();
    await eventually(async () => assert.equal(await field.inputValue(), 'not heard'));
    await context.setOffline(false);
    await connection(tab, 'Connected').waitFor();
    assert.equal(await log.getByText('not heard').count(), 0);
  }));

  it('a slow network delays, and loses nothing', withRun([{ say: 'Ready?' }, { say: WHOLE, pace: { characters: 12, milliseconds: 10 } }], async ({ tab, context, pill, send }) => {
    await pill('waiting').waitFor();
    const session = await context.newCDPSession(tab);
    await session.send('Network.emulateNetworkConditions', { offline: false, latency: 400, downloadThroughput: 60_000, uploadThroughput: 20_000 });
    await send('Begin');
    await untilReply(tab, 'w3');
    await watchReply(tab, WHOLE);
    await untilWhole(tab);
    await pill('waiting').waitFor();
    await assertNothingWrong(tab);
  }));
});

describe('a computer that slept', () => {
  it('shows what happened meanwhile', withReply(async ({ tab, chrome, run, pill, reply, untilStatus }) => {
    // Headless, no page counts as hidden, and only hidden ones can be frozen: the whole browser is stopped instead.
    const session = await chrome.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const signal = (name) => processInfo.forEach(({ id }) => process.kill(id, name));
    const state = async (id) => /^State:\s+(\w)/m.exec(await readFile(`/proc/${id}/status`, 'utf8'))?.[1];
    signal('SIGSTOP');
    try {
      for (const { id } of processInfo) await until('it sleeps', async () => (await state(id)) === 'T');
      reply.end(REST);
      await untilStatus(run, 'waiting-user');
    } finally {
      signal('SIGCONT');
    }
    await untilWhole(tab);
    await pill('waiting').waitFor();
    await connection(tab, 'Connected').waitFor();
    await assertSamePage(tab);
  }));
});
