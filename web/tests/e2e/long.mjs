/**
 * How the conversation behaves when it is very long: `npm run long`. A run of some thousand rows is made, then a reply
 * streams into it. Prints how long frames take, and fails where the goals are missed.
 */

import { ask, browser, example, page, project, scratch, serve, useModel } from './harness.mjs';
import { until } from './scene.mjs';

const place = await scratch();
const script = new URL('./scenarios/long.yaml', import.meta.url).pathname;
await useModel(place.home, `scripted:${script}`);
const server = await serve(place.home);
const chrome = await browser();
const { tab } = await page(await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' }), server);

/** Frames while something goes on: the slowest of a hundred is left out four times. */
const frames = (count) =>
  tab.evaluate(async (most) => {
    const spans = [];
    let last = performance.now();
    for (let frame = 0; frame < most; frame += 1) {
      const now = await new Promise((done) => requestAnimationFrame(done));
      spans.push(now - last);
      last = now;
    }
    spans.sort((one, other) => one - other);
    return spans[Math.floor(spans.length * 0.95)];
  }, count);

try {
  await ask(tab, 'POST', '/api/packages/import', { path: example('hello-branch') });
  const path = await project(place.folder, 'long', '002-branch-greenfield');
  const { id } = await ask(tab, 'POST', '/api/projects', { path });
  const { runId } = await ask(tab, 'POST', '/api/runs', { project: id, package: 'hello-branch', bounds: { maxTurns: 100000 } });
  await until('it is long', async () => (await ask(tab, 'GET', `/api/runs/${runId}`)).status === 'waiting-user', 900);
  const { turns } = await ask(tab, 'GET', `/api/runs/${runId}`);

  const begun = Date.now();
  await tab.goto(`${server.origin}/project/${id}/run/${runId}`);
  await tab.getByRole('log').getByText('That was all.').waitFor();
  const shown = Date.now() - begun;
  const mounted = await tab.locator('[role=log] .item').count();

  await tab.getByRole('textbox', { name: 'Message' }).fill('Go on');
  await tab.keyboard.press('Enter');
  await until('it streams', async () => (await tab.locator('article[aria-busy=true]').count()) > 0);
  const p95 = await frames(120);

  const log = tab.getByRole('log');
  await log.focus();
  await tab.keyboard.press('Home');
  await tab.getByRole('log').getByText('Entry 1:').waitFor();
  await tab.keyboard.press('End');
  await until('the end is in view', () => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight < 48));
  console.log(`${turns} replies · shown after ${shown} ms · ${mounted} rows in the page · 95 of 100 frames within ${p95.toFixed(1)} ms`);
  if (mounted > 200 || p95 > 33.4) process.exitCode = 1;
} finally {
  await chrome.close();
  await server.kill();
  await place.remove();
}
