/** How the app bears much: a very long conversation, a large graph, many runs, and a cold start. The numbers are printed. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ask, browser, example, own, page, project, scratch, serve, useModel } from './harness.mjs';
import { lengthen } from './journals.mjs';
import { largePackage } from './large.mjs';
import { best, frames, heap, TWO_FRAMES } from './measure.mjs';
import { until } from './scene.mjs';

const WIDE = { viewport: { width: 1440, height: 900 }, locale: 'en-GB' };
const ms = (value) => `${value.toFixed(1)} ms`;

describe('a conversation of ten thousand messages', () => {
  const MESSAGES = 10_000;
  let place, server, chrome, context, tab, errors, log;

  before(async () => {
    place = await scratch();
    // A small window of the model, so that the program has little to send: the page is what is measured.
    await useModel(place.home, own('long.yaml'), '', 'window-tokens = 16000');
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
    await useModel(place.home, own('stream.yaml'), '', 'window-tokens = 16000');
    await server.again();

    const begun = performance.now();
    await tab.goto(`${server.origin}/project/${id}/run/${runId}`);
    log = tab.getByRole('log');
    await log.getByText('I would go on').last().waitFor();
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
      let [blank, frame] = [0, 0];
      for (; frame < 180; frame += 1) {
        await new Promise((done) => requestAnimationFrame(done));
        // Up, and down again after a moment: nobody turns round within a frame.
        node.scrollTop += frame < 100 ? -900 : frame < 120 ? 0 : 900;
        // What is on the screen is what is there behind the frame.
        await new Promise((done) => {
          painted.port1.onmessage = done;
          painted.port2.postMessage(0);
        });
        if (isBlank()) blank += 1;
      }
      return { blank, frame };
    });
    console.log(`${seen.blank} of ${seen.frame} frames blank at 54,000 px/s`);
    assert.equal(seen.blank, 0);
    await log.focus();
    await tab.keyboard.press('End');
    await until('the end is in view', () => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight <= 1));
  });

  it('takes a reply that streams into it without missing frames', async () => {
    const idle = await frames(tab, 120);
    await tab.getByRole('textbox', { name: 'Message' }).fill('Go on');
    await tab.keyboard.press('Enter');
    await until('it streams', async () => ((await tab.locator('article[aria-busy=true]').textContent({ timeout: 500 }).catch(() => '')) ?? '').includes('one more sentence'), 60);
    const all = await best(3, () => frames(tab, 120), (one) => one.p95 <= TWO_FRAMES);
    console.log(`frames while it streams, p95: ${all.map((one) => ms(one.p95)).join(', ')}; idle ${ms(idle.p95)}`);
    assert.equal(await tab.locator('article[aria-busy=true]').count(), 1, 'it still streams');
    const least = Math.min(...all.map((one) => one.p95));
    assert.ok(least <= TWO_FRAMES, `p95 ${least} ms`);
  });

  it('does not move what is read while the reply goes on, and keeps the focus in it', async () => {
    const box = await log.boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.wheel(0, -1500);
    await tab.locator('.frame > .pill').waitFor();
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
    assert.equal(await tab.locator('article[aria-busy=true]').count(), 1, 'it still streams');
    // Far away, too.
    await log.evaluate((node) => (node.scrollTop -= 60_000));
    await frames(tab, 20);
    assert.match(await tab.evaluate(() => document.activeElement?.textContent ?? ''), /Listed/);
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await tab.locator('header .pill.paused').waitFor();
  });

  it('had no errors', () => assert.deepEqual(errors.filter((error) => !error.includes('ERR_')), []));
});
