/** Fixtures under load: a conversation of ten thousand messages, a graph of three hundred nodes, a hundred runs. */

import assert from 'node:assert/strict';
import { ownModel, until, useModel } from '../harness.mjs';
import { openFixture } from '../open-fixture.mjs';
import { largePackage } from './large-package.mjs';
import { lengthen } from './long-journal.mjs';

export const [MESSAGES, NODES, MOVES, RUNS] = [10_000, 300, 20, 100];
/** A small window of the model, so that the program has little to send: the page is what is looked at. */
const SMALL_WINDOW = 'window-tokens = 8000';

/** Opens a conversation of ten thousand messages. `streams` makes the model speak, unless it does. */
export async function openLongConversation(chrome) {
  const fixture = await openFixture(chrome, { model: ownModel('long-conversation.yaml'), run: SMALL_WINDOW });
  const { tab, home, server, log } = fixture;
  const long = await fixture.project('long', {}, '002-branch-greenfield');
  const run = await fixture.startRun(long.id, { bounds: { maxTurns: 100_000 } });
  await fixture.untilStatus(run, 'waiting-user');
  await fixture.api('POST', `/api/runs/${run}/say`, { text: 'Go on' });
  await fixture.untilStatus(run, 'waiting-user');
  await server.crash();
  const count = await lengthen(home, run, MESSAGES);
  assert.ok(count >= MESSAGES);
  await useModel(home, ownModel('long-reply.yaml'), '', SMALL_WINDOW);
  await server.restart();
  const busy = log.locator('article[aria-busy=true]');
  const show = async () => {
    await fixture.showRun(long.id, run);
    await log.getByText('I would go on').last().waitFor();
  };
  const streams = async () => {
    if ((await busy.count()) === 0) await fixture.send('Go on');
    await until('it streams', async () => (await busy.allTextContents()).join().includes('one more sentence'));
  };
  return { ...fixture, tab, busy, show, streams };
}

/** Opens a run of a package with a large graph; the model walks through its beginning once it is answered. */
export async function openLargeGraph(chrome) {
  const fixture = await openFixture(chrome, { packages: [], model: { nodes: {} } });
  const large = await largePackage(fixture.folder, NODES, MOVES);
  await useModel(fixture.home, large.model);
  await fixture.importPackage(large.path);
  const shop = await fixture.project('large-one', {}, '002-branch-greenfield');
  const run = await fixture.startRun(shop.id, { package: 'large' });
  await fixture.untilStatus(run, 'waiting-user');
  return { ...fixture, run, path: `/project/${shop.id}/run/${run}`, visited: large.visited, graph: fixture.tab.getByRole('application') };
}

/** Opens the list of runs, and starts a hundred of them. */
export async function openManyRuns(chrome) {
  const fixture = await openFixture(chrome, { model: ownModel('many-runs.yaml') });
  const { tab } = fixture;
  const shop = await fixture.project('many', {}, '002-branch-greenfield');
  await fixture.go('project', shop.id, 'runs');
  await tab.getByRole('heading', { name: 'Runs' }).first().waitFor();
  const startAll = async () => {
    const started = await tab.evaluate(
      async ([project, count]) => {
        globalThis.mark = 1;
        const one = () => fetch('/api/runs', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ project, package: 'hello-branch' }) });
        return (await Promise.all(Array.from({ length: count }, one))).filter((answer) => answer.ok).length;
      },
      [shop.id, RUNS],
    );
    assert.equal(started, RUNS);
  };
  const untilAll = (look) => until(`all are listed as ${look}`, async () => (await tab.locator(`.run .pill.${look}`).count()) === RUNS);
  return { ...fixture, startAll, untilAll };
}
