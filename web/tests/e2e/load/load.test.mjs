/** How the app bears much: a very long conversation, a large graph, many runs, and a cold start. The numbers are printed. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ask, browser, example, own, page, project, scratch, serve, useModel } from '../harness.mjs';
import { lengthen } from './long-journal.mjs';
import { largePackage } from './large-package.mjs';
import { frames, heap, judge, others, TWO_FRAMES } from './measure.mjs';
import { until } from '../screens-fixture.mjs';

const WIDE = { viewport: { width: 1440, height: 900 }, locale: 'en-GB' };
const ms = (value) => `${value.toFixed(1)} ms`;

describe('a conversation of ten thousand messages', () => {
  const MESSAGES = 10_000;
  let place, server, chrome, context, tab, errors, log, busy;
  /** Makes the model speak, unless it does. */
  const streams = async () => {
    if ((await busy.count()) === 0) {
      await tab.getByRole('textbox', { name: 'Message' }).fill('Go on');
      await tab.keyboard.press('Enter');
    }
    await until('it streams', async () => ((await busy.textContent({ timeout: 500 }).catch(() => '')) ?? '').includes('one more sentence'), 120);
  };

  before(async () => {
    place = await scratch();
    // A small window of the model, so that the program has little to send: the page is what is measured.
    await useModel(place.home, own('long-conversation.yaml'), '', 'window-tokens = 8000');
    server = await serve(place.home);
    chrome = await browser();
    context = await chrome.newContext(WIDE);
    ({ tab, errors } = await page(context, server));
    await ask(tab, 'POST', '/api/packages/import', { path: example('hello-branch') });
    const { id } = await ask(tab, 'POST', '/api/projects', { path: await project(place.folder, 'long', '002-branch-greenfield') });
    const { runId } = await ask(tab, 'POST', '/api/runs', { project: id, package: 'hello-branch', bounds: { maxTurns: 100_000 } });
    const rests = () => until('it rests', async () => (await ask(tab, 'GET', `/api/runs/${runId}`)).status === 'waiting-user');
    await rests();
    await ask(tab, 'POST', `/api/runs/${runId}/say`, { text: 'Go on' });
    await rests();
    await tab.goto('about:blank');
    await server.crash();
    const count = await lengthen(place.home, runId, MESSAGES);
    assert.ok(count >= MESSAGES);
    await useModel(place.home, own('long-reply.yaml'), '', 'window-tokens = 8000');
    await server.again();

    const begun = performance.now();
    await tab.goto(`${server.origin}/project/${id}/run/${runId}`);
    log = tab.getByRole('log');
    busy = log.locator('article[aria-busy=true]');
    await log.getByText('I would go on').last().waitFor({ timeout: 120_000 });
    const shown = performance.now() - begun;
    console.log(`${count} messages: shown after ${ms(shown)}, ${await log.locator('.item').count()} rows in the page`);
  });
  after(async () => {
    await chrome?.close();
    await server?.kill();
    await place?.remove();
  });

  it('has few rows in the page, and keeps little', async () => {
    assert.ok((await log.locator('.item').count()) <= 60);
    const used = await heap(tab);
    console.log(`the page keeps ${used.toFixed(0)} MB`);
    assert.ok(used <= 150, `the page keeps ${used} MB`);
  });

  it('Home and End lead to its true ends, and the focus stays', async () => {
    await log.focus();
    await tab.keyboard.press('Home');
    await log.getByText('Entry 1:').waitFor();
    await until('the beginning is in view', () => log.evaluate((node) => node.scrollTop <= 1));
    await tab.keyboard.press('End');
    await log.getByText('I would go on').last().waitFor();
    await until('the end is in view', () => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight <= 1));
    assert.equal(await log.evaluate((node) => document.activeElement === node), true);
  });

  it('is never blank while it is scrolled fast', async () => {
    const seen = await log.evaluate(async (node) => {
      const painted = new MessageChannel();
      const isBlank = () => {
        const { top, bottom } = node.getBoundingClientRect();
        const rows = [...node.querySelectorAll('.item')].map((row) => row.getBoundingClientRect()).filter((row) => row.bottom > top + 40 && row.top < bottom - 40);
        return rows.length === 0;
      };
      const list = node.querySelector('.inner').firstElementChild;
      let [blank, frames] = [0, 0];
      for (const step of [-900, 900]) {
        for (let frame = 0; frame < 90; frame += 1, frames += 1) {
          await new Promise((done) => requestAnimationFrame(done));
          // A hand gets up to speed within a few frames; rows are at hand on the side that it goes to.
          node.scrollTop += (step * Math.min(4, frame + 1)) / 4;
          // What is on the screen is what is there behind the frame.
          await new Promise((done) => {
            painted.port1.onmessage = done;
            painted.port2.postMessage(0);
          });
          if (isBlank()) blank += 1;
        }
        // Nobody turns round within a frame.
        for (let frame = 0; frame < 300 && list.style.pointerEvents === 'none'; frame += 1) await new Promise((done) => requestAnimationFrame(done));
      }
      return { blank, frames };
    });
    console.log(`${seen.blank} of ${seen.frames} frames blank at up to 54,000 px/s`);
    assert.equal(seen.blank, 0);
    await log.focus();
    await tab.keyboard.press('End');
    await until('the end is in view', () => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight <= 1));
  });

  it('takes a reply that streams into it without missing frames', async () => {
    const rivals = await others();
    const streaming = async () => {
      await streams();
      const p95 = await frames(tab, 90);
      return (await busy.count()) === 1 ? p95 : Infinity;
    };
    await judge('a frame while a reply streams into it, p95', TWO_FRAMES, streaming, rivals);
  });

  it('does not move what is read while the reply goes on, and keeps the focus in it', async () => {
    await streams();
    const box = await log.boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.wheel(0, -300);
    await tab.locator('.frame > .pill').waitFor();
    // Until the reply is just below what is seen.
    await log.evaluate((node) => (node.scrollTop += node.querySelector('[aria-busy=true]').getBoundingClientRect().top - node.getBoundingClientRect().bottom));
    await log.getByRole('button', { name: /Listed/ }).first().focus();
    await frames(tab, 20);
    const moved = await log.evaluate(async (node) => {
      const anchor = document.activeElement.closest('.item');
      const start = anchor.getBoundingClientRect().top;
      let most = 0;
      for (let frame = 0; frame < 120; frame += 1) {
        await new Promise((done) => requestAnimationFrame(done));
        most = Math.max(most, Math.abs(anchor.getBoundingClientRect().top - start));
      }
      return { most, isThere: node.contains(anchor) };
    });
    assert.ok(moved.isThere && moved.most <= 2, `it moved by ${moved.most} px`);
    assert.equal(await busy.count(), 1, 'it still streams');
    // Far away, too.
    await log.evaluate((node) => (node.scrollTop -= 60_000));
    await frames(tab, 20);
    assert.match(await tab.evaluate(() => document.activeElement?.textContent ?? ''), /Listed/);
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await tab.locator('header .pill.paused').waitFor();
  });

  it('had no errors', () => assert.deepEqual(errors.filter((error) => !error.includes('ERR_')), []));
});

describe('a graph of three hundred nodes', () => {
  const [NODES, MOVES] = [300, 20];
  let place, server, chrome, tab, errors, address, visited;

  before(async () => {
    place = await scratch();
    const large = await largePackage(place.folder, NODES, MOVES);
    visited = large.visited;
    await useModel(place.home, large.model);
    server = await serve(place.home);
    chrome = await browser();
    ({ tab, errors } = await page(await chrome.newContext(WIDE), server));
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
    const report = await ask(tab, 'POST', '/api/packages/import', { path: large.path });
    const { id } = await ask(tab, 'POST', '/api/projects', { path: await project(place.folder, 'large-one', '002-branch-greenfield') });
    const { runId, ...why } = await ask(tab, 'POST', '/api/runs', { project: id, package: 'large' });
    assert.ok(runId, JSON.stringify([report, why]));
    await until('it rests', async () => (await ask(tab, 'GET', `/api/runs/${runId}`)).status === 'waiting-user');
    address = `/project/${id}/run/${runId}`;
  });
  after(async () => {
    await chrome?.close();
    await server?.kill();
    await place?.remove();
  });

  it('is painted within 1.5 seconds, all of it', async () => {
    const painted = () => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now())))));
    const paint = async () => {
      await tab.goto('about:blank');
      await tab.goto(server.origin + address, { waitUntil: 'commit' });
      const graph = tab.getByRole('application');
      await tab.waitForFunction(() => document.querySelector('[data-node].current'), undefined, { polling: 'raf' });
      const first = await painted();
      // What is out of sight is not in the page.
      assert.ok((await graph.locator('[data-node]').count()) < NODES / 2);
      await graph.press('f');
      await tab.waitForFunction((count) => document.querySelectorAll('[data-node]').length === count, NODES, { polling: 'raf' });
      const all = await painted();
      console.log(`the node of the run painted after ${ms(first)}`);
      return all;
    };
    await judge(`${NODES} nodes painted`, 1500, paint);
    assert.ok(await tab.getByRole('application').locator('[data-node]').evaluateAll((nodes) => {
      const frame = nodes[0].closest('[role=application]').getBoundingClientRect();
      return nodes.every((node) => {
        const { left, right, top, bottom } = node.getBoundingClientRect();
        return left >= frame.left && right <= frame.right && top >= frame.top && bottom <= frame.bottom;
      });
    }), 'every node is in sight');
    await tab.keyboard.press('c');
  });

  it('follows the run from node to node within two frames', async () => {
    await tab.evaluate((end) => {
      globalThis.spans = [];
      const node = () => document.querySelector('[data-node].current')?.dataset.node;
      let last = node();
      globalThis.arrival = new Promise((done) => {
        // The page changes within a frame; what runs behind it runs after it was painted.
        new MutationObserver(() => {
          if (node() === last) return;
          last = node();
          const { arrived } = globalThis;
          setTimeout(() => {
            globalThis.spans.push(performance.now() - arrived);
            if (last === end) done();
          });
        }).observe(document.querySelector('[role=application]'), { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] });
      });
    }, visited.at(-1));
    const rivals = await others();
    await tab.getByRole('textbox', { name: 'Message' }).fill('Yes');
    await tab.keyboard.press('Enter');
    const spans = (await tab.evaluate(() => globalThis.arrival.then(() => globalThis.spans))).sort((one, other) => one - other);
    assert.ok(spans.length >= MOVES / 2, `${spans.length} moves were seen`);
    const part = (share) => spans[Math.floor((spans.length - 1) * share)];
    console.log(`${spans.length} moves of the current node, median ${ms(part(0.5))}, slowest ${ms(part(1))}`);
    await judge('the current node moves, from the news to the paint, nine of ten', TWO_FRAMES, () => part(0.9), rivals);
  });

  it('is moved and enlarged without missing frames', async () => {
    const turn = (frame, isZoom) => {
      const graph = document.querySelector('[role=application]');
      const { left, top, width, height } = graph.getBoundingClientRect();
      const deltaY = (frame % 60 < 30 ? 1 : -1) * (isZoom ? 12 : 40);
      graph.dispatchEvent(new WheelEvent('wheel', { deltaY, ctrlKey: isZoom, clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true }));
    };
    await judge('a frame while it is moved, p95', TWO_FRAMES, () => frames(tab, 90, turn, false));
    await judge('a frame while it is enlarged, p95', TWO_FRAMES, () => frames(tab, 90, turn, true));
    await tab.getByRole('application').press('f');
    await judge('a frame while all of it is moved, p95', TWO_FRAMES, () => frames(tab, 90, turn, false));
    await judge('a frame while all of it is enlarged, p95', TWO_FRAMES, () => frames(tab, 90, turn, true));
    assert.deepEqual(errors.filter((error) => !error.includes('ERR_')), []);
  });
});

describe('a hundred runs at once', () => {
  const RUNS = 100;
  let place, server, chrome, tab, errors, id;

  before(async () => {
    place = await scratch();
    await useModel(place.home, own('many-runs.yaml'));
    server = await serve(place.home);
    chrome = await browser();
    ({ tab, errors } = await page(await chrome.newContext(WIDE), server));
    await ask(tab, 'POST', '/api/packages/import', { path: example('hello-branch') });
    ({ id } = await ask(tab, 'POST', '/api/projects', { path: await project(place.folder, 'crowd', '002-branch-greenfield') }));
  });
  after(async () => {
    await chrome?.close();
    await server?.kill();
    await place?.remove();
  });

  it('are listed as they go, in a page that stays alive', async () => {
    await tab.goto(`${server.origin}/project/${id}/runs`);
    await tab.getByText('No runs yet').or(tab.getByRole('heading', { name: 'Runs' })).first().waitFor();
    const rivals = await others();
    const started = await tab.evaluate(
      async ([project, count]) => {
        globalThis.mark = 1;
        const one = () => fetch('/api/runs', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ project, package: 'hello-branch' }) });
        return (await Promise.all(Array.from({ length: count }, one))).filter((answer) => answer.ok).length;
      },
      [id, RUNS],
    );
    assert.equal(started, RUNS);
    const working = tab.locator('.run .pill.running');
    await until('all are listed at work', async () => (await working.count()) === RUNS, 30);
    const memory = await server.memory();
    console.log(`${RUNS} runs at work: the server has ${memory.now.toFixed(0)} MiB`);
    await judge('a frame while they work, p95', TWO_FRAMES, () => frames(tab, 60), rivals);
    const filter = () =>
      tab.evaluate(async () => {
        const press = (name) => [...document.querySelectorAll('[aria-pressed]')].find((one) => one.textContent === name).click();
        const begun = performance.now();
        press('Done');
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        const took = performance.now() - begun;
        if (document.querySelectorAll('.run').length > 0) throw new Error('the filter does nothing');
        press('All');
        return took;
      });
    await judge('the list is filtered', 100, filter, rivals);
    await until('all are listed as waiting', async () => (await tab.locator('.run .pill.waiting').count()) === RUNS, 60);
    console.log(`${RUNS} runs rest: the server has ${(await server.memory()).now.toFixed(0)} MiB`);
    assert.equal(await tab.evaluate(() => globalThis.mark), 1, 'the page was not loaded anew');
    assert.ok(memory.now <= 400, `the server has ${memory.now} MiB`);
    assert.deepEqual(errors, []);
  });
});

describe('a cold start', () => {
  it('leads to a page that answers a click within a second, and an idle server has less than 40 MiB', async () => {
    const chrome = await browser();
    const cold = async () => {
      const place = await scratch();
      const context = await chrome.newContext(WIDE);
      const tab = await context.newPage();
      const server = await serve(place.home);
      const idle = (await server.memory()).now;
      try {
        const begun = performance.now();
        await tab.goto(server.enter, { waitUntil: 'commit' });
        await tab.getByRole('link', { name: 'Import a package' }).click();
        await tab.getByLabel('File or folder on this computer').waitFor();
        const took = server.ready + performance.now() - begun;
        console.log(`the program was ready after ${ms(server.ready)} and had ${idle.toFixed(1)} MiB, ${(await server.memory()).now.toFixed(1)} MiB behind the first page`);
        assert.ok(idle <= 40);
        return took;
      } finally {
        await context.close();
        await server.kill();
        await place.remove();
      }
    };
    try {
      await judge('from nothing to a page that answered a click', 1000, cold);
    } finally {
      await chrome.close();
    }
  });
});
