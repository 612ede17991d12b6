/** Measures how fast the app is, and fails if a goal is missed: `npm run bench [name…]`. */

import { watch } from 'node:fs';
import { appendFile, mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { launchBrowser, makeScratch, serve, simpleToolServer, until } from '../harness.mjs';
import { openFixture, VIEW } from '../open-fixture.mjs';
import { NODES, openLargeGraph, openLongConversation, openManyRuns } from './fixtures.mjs';
import { measureFrames, measureHeap, Report, TWO_FRAMES_MS } from './measure.mjs';

const FRAME = { goal: TWO_FRAMES_MS, times: 1, share: 0.95 };
const STOP = { goal: 200 };
const words = (count) => Array.from({ length: count }, (_, at) => `w${at + 1}`).join(' ');
const SPEAKS = { say: `${words(5000)}?`, pace: { characters: 6, milliseconds: 10 } };

/** Returns the milliseconds from a click on Stop until the state changes on the page. */
async function measureStop(tab) {
  await tab.locator('.composer').getByRole('button', { name: 'Stop' }).waitFor();
  return tab.evaluate(async () => {
    const button = [...document.querySelectorAll('.composer button')].find((one) => one.textContent.trim() === 'Stop');
    const begun = performance.now();
    button.click();
    while (document.querySelector('header .pill.running')) await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - begun;
  });
}

/** Returns when the page has painted what it has now, in milliseconds since it was loaded. */
const paintTime = (tab) => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now())))));

const BENCHMARKS = {
  async conversation(chrome, report) {
    const fixture = await openLongConversation(chrome);
    const { tab, busy, show, streams } = fixture;
    try {
      await report.measure('10,000 messages: from the address to the last row', { times: 3 }, async () => {
        await tab.goto('about:blank');
        const begun = performance.now();
        await show();
        return performance.now() - begun;
      });
      await report.measure('10,000 messages: what the page keeps', { goal: 150, times: 1, unit: 'MB' }, () => measureHeap(tab));
      await report.measure('10,000 messages: a frame while a reply streams', { ...FRAME, times: 3 }, async () => {
        await streams();
        const spans = await measureFrames(tab, 90);
        return (await busy.count()) === 1 ? spans : [];
      });
    } finally {
      await fixture.close();
    }
  },

  async graph(chrome, report) {
    const fixture = await openLargeGraph(chrome);
    const { tab, graph, server, path, visited, send } = fixture;
    // Notes when the news of a move came.
    await tab.addInitScript(() => {
      const listen = EventSource.prototype.addEventListener;
      EventSource.prototype.addEventListener = function (name, take) {
        listen.call(this, name, (frame) => {
          if (frame.data?.includes('"moved"')) globalThis.arrived = performance.now();
          take(frame);
        });
      };
    });
    try {
      const first = [];
      await report.measure(`${NODES} nodes: from the address to the paint of all`, { goal: 1500 }, async () => {
        await tab.goto('about:blank');
        await tab.goto(server.origin + path, { waitUntil: 'commit' });
        await tab.waitForFunction(() => document.querySelector('[data-node].current'), undefined, { polling: 'raf' });
        first.push(await paintTime(tab));
        await graph.press('f');
        await tab.waitForFunction((count) => document.querySelectorAll('[data-node]').length === count, NODES, { polling: 'raf' });
        return paintTime(tab);
      });
      await report.measure(`${NODES} nodes: from the address to the paint of the current node`, { times: 1 }, () => first);
      await graph.press('c');
      await tab.evaluate((end) => {
        const spans = [];
        const node = () => document.querySelector('[data-node].current')?.dataset.node;
        let last = node();
        globalThis.arrival = new Promise((done) => {
          // The page changes within a frame; what runs behind it runs after it was painted.
          new MutationObserver(() => {
            if (node() === last) return;
            last = node();
            const { arrived } = globalThis;
            setTimeout(() => {
              spans.push(performance.now() - arrived);
              if (last === end) done(spans);
            });
          }).observe(document.querySelector('[role=application]'), { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] });
        });
      }, visited.at(-1));
      await report.measure('the current node moves: from the news to the paint', { goal: TWO_FRAMES_MS, times: 1, share: 0.9 }, async () => {
        await send('Yes');
        return tab.evaluate(() => globalThis.arrival);
      });
      const turn = (frame, isZoom) => {
        const graph = document.querySelector('[role=application]');
        const { left, top, width, height } = graph.getBoundingClientRect();
        const deltaY = (frame % 60 < 30 ? 1 : -1) * (isZoom ? 12 : 40);
        graph.dispatchEvent(new WheelEvent('wheel', { deltaY, ctrlKey: isZoom, clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true }));
      };
      for (const part of ['a part', 'all']) {
        if (part === 'all') await graph.press('f');
        await report.measure(`${part} of the graph is moved: a frame`, FRAME, () => measureFrames(tab, 90, turn, false));
        await report.measure(`${part} of the graph is enlarged: a frame`, FRAME, () => measureFrames(tab, 90, turn, true));
      }
    } finally {
      await fixture.close();
    }
  },

  async runs(chrome, report) {
    const fixture = await openManyRuns(chrome);
    const { tab, server, startAll, untilAll } = fixture;
    try {
      await startAll();
      await until('many are at work', async () => (await tab.locator('.run .pill.running').count()) > 50);
      await report.measure('100 runs at work: a frame', FRAME, () => measureFrames(tab, 60));
      await report.measure('100 runs at work: the list is filtered', { goal: 100 }, () =>
        tab.evaluate(async () => {
          const press = (name) => [...document.querySelectorAll('[aria-pressed]')].find((one) => one.textContent === name).click();
          const begun = performance.now();
          press('Done');
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          const took = performance.now() - begun;
          press('All');
          return took;
        }),
      );
      await untilAll('waiting');
      await report.measure('100 runs: memory of the server', { goal: 400, times: 1, unit: 'MiB' }, async () => (await server.memory()).most);
    } finally {
      await fixture.close();
    }
  },

  async stop(chrome, report) {
    const fixture = await openFixture(chrome, { model: { nodes: { 'step-01-intake': [SPEAKS] }, chat: [{ say: 'I wait.', calls: [{ 'mcp.slow.wait': {} }], times: 99 }] } });
    const { tab, api, log, send } = fixture;
    try {
      const [command, ...args] = simpleToolServer();
      await api('PUT', '/api/mcp/servers/slow', { way: { kind: 'stdio', command, args }, enabled: true });
      await api('PATCH', '/api/settings', { key: 'policy.mcp.enabled', value: true });
      await appendFile(join(fixture.home, 'config.toml'), '[models.down]\nmodel = "none"\nprofile = "generic"\nbase-url = "http://127.0.0.1:9/v1"\nkey = "none"\nretries = 100\n');
      const shop = await fixture.project('shop');
      await report.measure('Stop in a reply', STOP, async () => {
        await fixture.showRun(shop.id, await fixture.startRun(shop.id));
        await log.getByText('w20 ').waitFor();
        return measureStop(tab);
      });
      await report.measure('Stop in a call', STOP, async () => {
        const conversation = await fixture.startConversation(shop.id);
        await fixture.showConversation(shop.id, conversation);
        await send('Wait');
        await log.getByText('I wait.').waitFor();
        await until('the call is at work', async () => (await fixture.events('conversations', conversation)).some((event) => event.type === 'tool.started'));
        return measureStop(tab);
      });
      await report.measure('Stop in a wait for a provider', STOP, async () => {
        await fixture.showRun(shop.id, await fixture.startRun(shop.id, { model: 'down' }));
        await log.getByText(/again/i).first().waitFor();
        return measureStop(tab);
      });
    } finally {
      await fixture.close();
    }
  },

  async artifact(chrome, report) {
    await report.measure('an artifact: from the disk to the page', { goal: 1000 }, async () => {
      const fixture = await openFixture(chrome, { model: { nodes: { 'step-01-intake': [{ say: 'Hello. What now?' }, { calls: [{ 'fs.write': { path: '@project/artifacts/intake.md', content: '# Intake\n' } }] }, { say: 'Done. What now?' }] } } });
      try {
        const shop = await fixture.project('shop');
        const folder = join(shop.path, 'artifacts');
        await mkdir(folder);
        await fixture.showRun(shop.id, await fixture.startRun(shop.id));
        await fixture.pill('waiting').waitFor();
        const written = new Promise((done) => {
          const watcher = watch(folder, (_, file) => {
            if (file !== 'intake.md') return;
            watcher.close();
            done(performance.now());
          });
        });
        await fixture.send('Go on');
        const begun = await written;
        await fixture.tab.locator('section.artifacts').getByRole('button', { name: /intake\.md/ }).waitFor();
        return performance.now() - begun;
      } finally {
        await fixture.close();
      }
    });
  },

  async clients(chrome, report) {
    const fixture = await openFixture(chrome, { model: { nodes: { 'step-01-intake': [{ say: 'Hello. What now?' }] } } });
    const port = Number(new URL(fixture.server.own).port);
    const shop = await fixture.project('shop');
    const run = await fixture.startRun(shop.id);
    await fixture.untilStatus(run, 'waiting-user');
    const sockets = Array.from({ length: 140 }, () => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      socket.write('GET /api/app HTTP/1.1\r\nhost: ');
      return socket;
    });
    try {
      await report.measure('a page beside 140 slow clients', { goal: 5000 }, async () => {
        await fixture.tab.goto('about:blank');
        const begun = performance.now();
        await fixture.showRun(shop.id, run);
        await fixture.log.getByText('Hello.').first().waitFor();
        return performance.now() - begun;
      });
    } finally {
      for (const socket of sockets) socket.destroy();
      await fixture.close();
    }
  },

  async start(chrome, report) {
    const idle = [];
    await report.measure('from nothing to a page that answered a click', { goal: 1000 }, async () => {
      const scratch = await makeScratch();
      const context = await chrome.newContext(VIEW);
      const tab = await context.newPage();
      const server = await serve(scratch.home);
      try {
        idle.push((await server.memory()).now);
        const begun = performance.now();
        await tab.goto(server.enter, { waitUntil: 'commit' });
        await tab.getByRole('link', { name: 'Import a package' }).click();
        await tab.getByLabel('File or folder on this computer').waitFor();
        return server.ready + performance.now() - begun;
      } finally {
        await context.close();
        await server.kill();
        await scratch.remove();
      }
    });
    await report.measure('memory of an idle server', { goal: 40, times: 1, unit: 'MiB' }, () => idle);
  },
};

const wanted = process.argv.slice(2);
const report = new Report();
const chrome = await launchBrowser();
try {
  for (const [name, run] of Object.entries(BENCHMARKS)) if (wanted.length === 0 || wanted.includes(name)) await run(chrome, report);
} finally {
  await chrome.close();
}
for (const what of report.missed) console.error(`missed: ${what}`);
process.exitCode = report.missed.length > 0 ? 1 : 0;
