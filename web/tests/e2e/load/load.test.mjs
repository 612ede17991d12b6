/** The app under load: a very long conversation, a large graph, many runs. How fast it is, `bench.mjs` measures. */

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { launchBrowser, until } from '../harness.mjs';
import { MOVES, NODES, openLargeGraph, openLongConversation, openManyRuns } from './fixtures.mjs';
import { measureHeap, waitFrames } from './measure.mjs';

let shared;
after(async () => (await shared)?.close());

/** Makes a test of a fixture of its own. */
const withLoad = (open, body) => async () => {
  const fixture = await open(await (shared ??= launchBrowser()));
  try {
    await body(fixture);
    assert.deepEqual(fixture.errors.filter((error) => !error.includes('ERR_')), []);
  } finally {
    await fixture.close();
  }
};

const isAtEnd = (log) => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight <= 1);

describe('a conversation of ten thousand messages', () => {
  it('has few rows in the page, and keeps little', withLoad(openLongConversation, async ({ tab, log, show }) => {
    await show();
    assert.ok((await log.locator('.item').count()) <= 60);
    const used = await measureHeap(tab);
    assert.ok(used <= 150, `the page keeps ${used} MB`);
  }));

  it('Home and End lead to its true ends, and the focus stays', withLoad(openLongConversation, async ({ tab, log, show }) => {
    await show();
    await log.focus();
    await tab.keyboard.press('Home');
    await log.getByText('Entry 1:').waitFor();
    await until('the beginning is in view', () => log.evaluate((node) => node.scrollTop <= 1));
    await tab.keyboard.press('End');
    await log.getByText('I would go on').last().waitFor();
    await until('the end is in view', () => isAtEnd(log));
    assert.equal(await log.evaluate((node) => document.activeElement === node), true);
  }));

  it('is never blank while it is scrolled fast', withLoad(openLongConversation, async ({ log, show }) => {
    await show();
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
        // A hand does not turn round within a frame.
        for (let frame = 0; frame < 300 && list.style.pointerEvents === 'none'; frame += 1) await new Promise((done) => requestAnimationFrame(done));
      }
      return { blank, frames };
    });
    console.log(`${seen.blank} of ${seen.frames} frames blank at up to 54,000 px/s`);
    assert.equal(seen.blank, 0);
  }));

  it('does not move what is read while a reply goes on, and keeps the focus in it', withLoad(openLongConversation, async ({ tab, log, busy, show, streams, pill }) => {
    await show();
    await streams();
    const box = await log.boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.wheel(0, -300);
    await tab.locator('.frame > .pill').waitFor();
    // Until the reply is just below what is seen.
    await log.evaluate((node) => (node.scrollTop += node.querySelector('[aria-busy=true]').getBoundingClientRect().top - node.getBoundingClientRect().bottom));
    await log.getByRole('button', { name: /Listed/ }).first().focus();
    await waitFrames(tab, 20);
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
    await waitFrames(tab, 20);
    assert.match(await tab.evaluate(() => document.activeElement?.textContent ?? ''), /Listed/);
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await pill('paused').waitFor();
  }));
});

describe('a graph of three hundred nodes', () => {
  it('has in the page what is in sight, and all of it when it is fitted', withLoad(openLargeGraph, async ({ tab, server, path, graph }) => {
    await tab.goto(server.origin + path);
    await graph.locator('[data-node].current').waitFor();
    assert.ok((await graph.locator('[data-node]').count()) < NODES / 2);
    await graph.press('f');
    await until('every node is in sight', () =>
      graph.evaluate((frame, count) => {
        const { left, right, top, bottom } = frame.getBoundingClientRect();
        const nodes = [...frame.querySelectorAll('[data-node]')].map((node) => node.getBoundingClientRect());
        return nodes.length === count && nodes.every((node) => node.left >= left && node.right <= right && node.top >= top && node.bottom <= bottom);
      }, NODES),
    );
  }));

  it('follows the run from node to node', withLoad(openLargeGraph, async ({ tab, server, path, graph, visited, send }) => {
    await tab.goto(server.origin + path);
    await graph.locator('[data-node].current').waitFor();
    await tab.evaluate(() => {
      const current = () => document.querySelector('[data-node].current')?.dataset.node;
      globalThis.seen = [current()];
      new MutationObserver(() => globalThis.seen.at(-1) !== current() && globalThis.seen.push(current())).observe(document.querySelector('[role=application]'), { subtree: true, childList: true, attributes: true, attributeFilter: ['class'] });
    });
    await send('Yes');
    await graph.locator(`[data-node="${visited.at(-1)}"].current`).waitFor();
    const seen = await tab.evaluate(() => globalThis.seen.filter(Boolean));
    assert.deepEqual(seen.filter((node) => !visited.includes(node)), []);
    assert.ok(seen.length >= MOVES / 2, `${seen.length} nodes were seen`);
  }));
});

describe('a hundred runs at once', () => {
  it('are listed as they go, in a page that stays alive', withLoad(openManyRuns, async ({ tab, server, startAll, untilAll }) => {
    await startAll();
    await untilAll('waiting');
    assert.equal(await tab.evaluate(() => globalThis.mark), 1, 'the page was not loaded anew');
    const { most } = await server.memory();
    assert.ok(most <= 400, `the server had ${most} MiB`);
  }));
});
