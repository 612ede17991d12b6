/** What the page does when something breaks: the server, the network, the computer, the provider; and two pages on one run. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, browser, crewagent, example, page, project, scratch, serve, useModel } from './harness.mjs';
import { judge } from './load/measure.mjs';
import { until } from './screens-fixture.mjs';

/** What a broken connection writes to the console is not an error of the page. */
const NETWORK = /ERR_|Failed to load resource/;
/** How soon a click on Stop must be seen. */
const HEARD = 200;

/** So many words, each of which is there once. */
const words = (count) => Array.from({ length: count }, (_, at) => `w${at + 1}`).join(' ');

/** A server with a project, and a page. `reply` and what follows are what the model says at the first node. */
async function stage(replies, more = {}) {
  const place = await scratch();
  const script = join(place.folder, 'model.yaml');
  await writeFile(script, JSON.stringify({ scenario: 'what breaks', nodes: { 'step-01-intake': replies }, ...more }));
  await useModel(place.home, `scripted:${script}`);
  const server = await serve(place.home);
  const chrome = await browser();
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
  const { tab, errors } = await page(context, server);
  const api = (method, path, body) => ask(tab, method, path, body);
  await api('POST', '/api/packages/import', { path: example('hello-branch') });
  const { id } = await api('POST', '/api/projects', { path: await project(place.folder, 'shop', '002-branch-greenfield') });
  const start = async () => {
    const { runId } = await api('POST', '/api/runs', { project: id, package: 'hello-branch' });
    return { run: runId, address: `${server.origin}/project/${id}/run/${runId}` };
  };
  const open = async () => {
    const { run, address } = await start();
    await tab.goto(address);
    return { run, address };
  };
  const close = async () => {
    await chrome.close();
    await server.kill();
    await place.remove();
  };
  return { ...place, server, chrome, context, tab, errors, api, id, start, open, close };
}

const last = (tab) => tab.locator('[role=log] article .md').last();
const text = async (tab) => ((await last(tab).textContent({ timeout: 1000 }).catch(() => '')) ?? '').trim();
const reaches = (tab, word, seconds) => until(`${word} is there`, async () => (await text(tab)).includes(word), seconds);
const field = (tab) => tab.getByRole('textbox', { name: 'Message' });
const pill = (tab, look) => tab.locator(`header .pill.${look}`);
const connection = (tab, name) => tab.locator('footer').getByText(name, { exact: true });
const mark = (tab) => tab.evaluate(() => void (globalThis.mark = 1));
const isSame = async (tab) => assert.equal(await tab.evaluate(() => globalThis.mark), 1, 'the page was not loaded anew');

/** Notes whatever is shown of the last reply that is not the beginning of what the model says. */
const watch = (tab, whole) =>
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

/** Milliseconds from a click on Stop until the state changes on the page. */
const stopped = (tab) =>
  tab.evaluate(async () => {
    const button = [...document.querySelectorAll('.composer button')].find((one) => one.textContent.trim() === 'Stop');
    const begun = performance.now();
    button.click();
    while (document.querySelector('header .pill.running')) {
      await new Promise((done) => requestAnimationFrame(done));
      if (performance.now() - begun > 10_000) throw new Error('Stop was not heard');
    }
    return performance.now() - begun;
  });

describe('a server that is killed in the middle of a reply', () => {
  const WHOLE = words(700);
  let set;
  before(async () => (set = await stage([{ say: WHOLE, pace: { characters: 12, milliseconds: 15 } }])));
  after(() => set?.close());

  it('is come back to in the same page, and every word is there once', async () => {
    const { tab, server, errors } = set;
    await set.open();
    await mark(tab);
    await reaches(tab, 'w60 ');
    await watch(tab, WHOLE);
    await server.crash();
    await connection(tab, 'Reconnecting…').or(connection(tab, 'Offline')).first().waitFor();
    assert.match(await text(tab), /w60 /, 'what was read stays while the server is away');
    await server.again();
    await connection(tab, 'Connected').waitFor();
    await pill(tab, 'paused').waitFor();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await until('all words are there', async () => (await text(tab)) === WHOLE, 40);
    await pill(tab, 'waiting').waitFor();
    assert.equal(await text(tab), WHOLE);
    assert.equal((await tab.getByRole('log').textContent()).split('w1 w2 ').length, 2, 'the reply is there once');
    assert.deepEqual(await tab.evaluate(() => globalThis.wrong), []);
    await isSame(tab);
    assert.deepEqual(errors.filter((error) => !NETWORK.test(error)), []);
  });
});

describe('a run that its process left', () => {
  let set;
  before(async () => (set = await stage([{ say: words(900), pace: { characters: 12, milliseconds: 15 } }])));
  after(() => set?.close());

  it('says where it was interrupted and why, in the run, in the lists and on a narrow page', async () => {
    const { tab, server } = set;
    const { run } = await set.open();
    await reaches(tab, 'w20 ', 20);
    await server.crash();
    await server.again();
    await tab.reload();
    const why = /It was interrupted at .+: its process ended\. Nothing is lost; choose Resume to go on\./;
    const banner = tab.getByRole('status').filter({ hasText: why });
    await banner.getByRole('button', { name: 'Resume' }).waitFor();
    await pill(tab, 'paused').getByText('Interrupted', { exact: true }).waitFor();
    await tab.keyboard.press('Control+k');
    await tab.getByRole('dialog').getByRole('combobox').fill('Resume');
    await tab.getByRole('option', { name: /^Resume/ }).waitFor();
    for (const [width, path] of [[1440, 'runs'], [390, 'runs'], [1440, ''], [390, '']]) {
      await tab.setViewportSize({ width, height: 800 });
      await tab.goto(`${server.origin}/project/${set.id}/${path}`);
      const said = tab.locator('main').getByText(/its process ended/);
      await said.waitFor();
      assert.ok(await said.evaluate((one) => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 1), `all of it can be read at ${width} px`);
      await tab.getByText(run.slice(-5)).first().waitFor();
    }
  });

  it('is left for other pages without an error', async () => {
    const { tab, errors } = set;
    await tab.setViewportSize({ width: 1440, height: 900 });
    for (const [place, title] of [['Settings', 'Models'], ['CrewAgent', 'Start']]) {
      const { address } = await set.start();
      await tab.goto(address);
      await pill(tab, 'running').waitFor();
      await tab.getByRole('link', { name: place, exact: true }).click();
      await tab.getByRole('heading', { name: title, exact: true }).waitFor();
    }
    assert.deepEqual(errors.filter((error) => !NETWORK.test(error)), []);
  });
});

describe('two pages on one run', () => {
  let set, other;
  const question = { 'ui.ask_user': { question: 'Which one?', kind: 'choice', options: [{ value: 'a', label: 'The first' }, { value: 'b', label: 'The second' }] } };
  before(async () => {
    set = await stage([{ calls: [question] }, { say: words(3000), pace: { characters: 12, milliseconds: 10 } }]);
    const { address } = await set.open();
    other = await set.context.newPage();
    other.on('pageerror', (error) => set.errors.push(String(error)));
    await other.goto(address);
  });
  after(() => set?.close());

  it('an answer in one closes the question in the other, both stream, and Stop stops both', async () => {
    const { tab } = set;
    for (const one of [tab, other]) await one.getByRole('radio', { name: /The second/ }).waitFor();
    await field(other).fill('a draft that nobody sent');
    await tab.getByRole('radio', { name: /The second/ }).dblclick();
    for (const one of [tab, other]) {
      await one.getByRole('log').getByText('Answered: The second').waitFor();
      assert.equal(await one.getByRole('radio').count(), 0);
      await reaches(one, 'w40 ');
    }
    await Promise.all([tab, other].map((one) => watch(one, words(3000))));
    for (const one of [tab, other]) await reaches(one, 'w120 ');
    assert.equal(await field(other).inputValue(), 'a draft that nobody sent');
    await other.bringToFront();
    await other.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    for (const one of [tab, other]) {
      await pill(one, 'paused').waitFor();
      await one.getByRole('log').getByText('Stopped.').waitFor();
      assert.deepEqual(await one.evaluate(() => globalThis.wrong), []);
    }
    assert.equal(await field(other).inputValue(), 'a draft that nobody sent');
    assert.deepEqual(set.errors.filter((error) => !NETWORK.test(error)), []);
  });
});

describe('Stop is seen within 200 ms', () => {
  let set;
  const hanging = `
    process.stdin.setEncoding('utf8');
    let rest = '';
    process.stdin.on('data', (data) => {
      const lines = (rest + data).split('\\n');
      rest = lines.pop();
      for (const line of lines.filter(Boolean)) {
        const { id, method, params } = JSON.parse(line);
        const tools = [{ name: 'wait', description: 'Waits for ever.', inputSchema: { type: 'object' } }];
        const results = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } }, 'tools/list': { tools }, ping: {} };
        if (id !== undefined && results[method]) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }) + '\\n');
      }
    });
  `;
  before(async () => {
    set = await stage([{ say: words(5000), pace: { characters: 6, milliseconds: 10 } }], { chat: [{ say: 'I wait.', calls: [{ 'mcp.slow.wait': {} }] }] });
    const script = join(set.folder, 'slow.cjs');
    await writeFile(script, hanging);
    for (const command of [['mcp', 'add', 'slow', '--', process.execPath, script], ['mcp', 'enable', 'slow'], ['config', 'set', 'policy.mcp.enabled', 'true']]) {
      const done = await crewagent(set.home, ...command);
      assert.equal(done.code, 0, done.err);
    }
  });
  after(() => set?.close());

  it('while a reply streams', async () => {
    const { tab } = set;
    await judge('Stop in a reply', HEARD, async () => {
      await set.open();
      await reaches(tab, 'w20 ');
      return stopped(tab);
    });
    // What was read before is not lost, also for whoever comes later.
    for (const look of ['at once', 'after a reload']) {
      if (look === 'after a reload') await tab.reload();
      await tab.getByRole('log').getByText('Stopped.').waitFor();
      const half = tab.getByRole('log').locator('article', { hasText: 'You stopped the reply here.' }).last();
      assert.match((await half.textContent()) ?? '', /w1 w2 .*w20 /s, look);
    }
  });

  it('while a tool is at work', async () => {
    const { tab } = set;
    await judge('Stop in a call', HEARD, async () => {
      const { id } = await set.api('POST', '/api/conversations', { project: set.id });
      await tab.goto(`${set.server.origin}/project/${set.id}/work/${id}`);
      await field(tab).fill('Wait');
      await field(tab).press('Enter');
      await tab.getByRole('log').getByText('I wait.').waitFor();
      await until('the call is at work', async () => (await set.api('GET', `/api/conversations/${id}/events?after=0`)).events.some((event) => event.type === 'tool.started'));
      return stopped(tab);
    });
  });

  it('while a provider that is down is waited for', async () => {
    const { tab } = set;
    const done = await crewagent(set.home, 'models', 'add', 'down', '--base-url', 'http://127.0.0.1:9/v1', '--model', 'none', '--no-key', '--use', '--yes');
    assert.equal(done.code, 0, done.err);
    await judge('Stop while waiting for a provider', HEARD, async () => {
      await set.open();
      await tab.getByRole('log').getByText(/again/i).first().waitFor();
      return stopped(tab);
    });
    assert.deepEqual(set.errors.filter((error) => !NETWORK.test(error)), []);
  });
});

describe('a network that comes and goes', () => {
  const WHOLE = words(900);
  let set, cookie;
  // Asked from outside of the browser, which hears nothing.
  const status = async (run) => (await (await fetch(`${set.server.origin}/api/runs/${run}`, { headers: { cookie } })).json()).status;
  const rests = (run) => until('the run rests', async () => (await status(run)) === 'waiting-user', 40);
  before(async () => {
    set = await stage([
      { say: 'Ready.' },
      { say: WHOLE, pace: { characters: 12, milliseconds: 10 } },
      { say: words(3000), pace: { characters: 12, milliseconds: 10 } },
    ]);
    const [{ name, value }] = await set.context.cookies();
    cookie = `${name}=${value}`;
  });
  after(() => set?.close());

  it('what is said offline is not lost, and what was missed is caught up with', async () => {
    const { tab, context } = set;
    const { run } = await set.open();
    await mark(tab);
    await pill(tab, 'waiting').waitFor();
    await field(tab).fill('Begin');
    await field(tab).press('Enter');
    await reaches(tab, 'w30 ');
    await context.setOffline(true);
    await connection(tab, 'Reconnecting…').or(connection(tab, 'Offline')).first().waitFor();
    // It waits for the reply to end, which is not heard of.
    await field(tab).fill('and then');
    await field(tab).press('Enter');
    await tab.getByRole('list', { name: 'Waiting to be sent' }).getByText('and then').waitFor();
    await rests(run);
    await context.setOffline(false);
    await connection(tab, 'Connected').waitFor();
    await until('the reply is whole', async () => (await tab.getByRole('log').locator('article .md').allTextContents()).some((one) => one.trim() === WHOLE), 30);
    await tab.getByRole('log').getByText('and then').waitFor();
    await reaches(tab, 'w40 ', 30);
    const said = (await tab.getByRole('log').textContent()).split('and then').length - 1;
    assert.equal(said, 1);
    await isSame(tab);
    await tab.locator('.composer').getByRole('button', { name: 'Stop' }).click();
    await pill(tab, 'paused').waitFor();
  });

  it('a message that cannot be sent stays in the field, with the reason', async () => {
    const { tab, context } = set;
    await context.setOffline(true);
    await field(tab).fill('not heard');
    await field(tab).press('Enter');
    await tab.getByText('The CrewAgent server does not answer.').first().waitFor();
    assert.equal(await field(tab).inputValue(), 'not heard');
    await context.setOffline(false);
    await connection(tab, 'Connected').waitFor();
    assert.equal(await tab.getByRole('log').getByText('not heard').count(), 0);
  });

  it('a slow network delays, and loses nothing', async () => {
    const { tab, context } = set;
    await set.open();
    await pill(tab, 'waiting').waitFor();
    const session = await context.newCDPSession(tab);
    await session.send('Network.emulateNetworkConditions', { offline: false, latency: 400, downloadThroughput: 60_000, uploadThroughput: 20_000 });
    await field(tab).fill('Begin');
    await field(tab).press('Enter');
    await reaches(tab, 'w30 ', 30);
    await watch(tab, WHOLE);
    await until('it is whole', async () => (await text(tab)) === WHOLE, 60);
    assert.deepEqual(await tab.evaluate(() => globalThis.wrong), []);
    await session.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
    await pill(tab, 'waiting').waitFor();
  });

  it('a computer that slept shows what happened meanwhile', async () => {
    const { tab, chrome } = set;
    const { run } = await set.open();
    await mark(tab);
    await pill(tab, 'waiting').waitFor();
    await field(tab).fill('Begin');
    await field(tab).press('Enter');
    await reaches(tab, 'w30 ');
    await tab.evaluate(() => {
      [globalThis.gap, globalThis.ticked] = [0, Date.now()];
      setInterval(() => {
        globalThis.gap = Math.max(globalThis.gap, Date.now() - globalThis.ticked);
        globalThis.ticked = Date.now();
      }, 50);
    });
    // Headless, no page counts as hidden, and only hidden ones can be frozen: the whole browser is stopped instead.
    const session = await chrome.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const signal = (name) => processInfo.forEach(({ id }) => process.kill(id, name));
    signal('SIGSTOP');
    try {
      await rests(run);
    } finally {
      signal('SIGCONT');
    }
    await until('it is whole', async () => (await text(tab)) === WHOLE, 20);
    await pill(tab, 'waiting').waitFor();
    await connection(tab, 'Connected').waitFor();
    assert.ok((await tab.evaluate(() => globalThis.gap)) > 2000, 'it slept');
    await isSame(tab);
    assert.deepEqual(set.errors.filter((error) => !NETWORK.test(error)), []);
  });
});
