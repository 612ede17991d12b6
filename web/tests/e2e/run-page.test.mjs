/** What the page of a run and the pages around it promise: calls, refusals, nodes, artifacts, lists, and what a crash leaves. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { alterExample, withFixture } from './fixture.mjs';
import { eventually, goldenModel, ownModel, until } from './harness.mjs';

const ASK = { 'ui.ask_user': { question: 'Which kind of project is it?', kind: 'choice', options: [{ value: 'greenfield', label: 'A new one' }, { value: 'brownfield', label: 'One that exists' }] } };
const MOVE = (to, more = {}) => ({ 'fs.apply_patch': { path: '@state/workflow.md', operation: 'updateFrontmatter', update: { ...more, currentNodeId: { set: to } } } });
/** Looks around, is refused twice, asks, writes two files, moves on, and speaks for ever. */
const MODEL = {
  nodes: {
    'step-01-intake': [
      {
        say: 'I look around.',
        calls: [
          { 'fs.search': { query: 'sign', path: '@project' } },
          { 'fs.search': { query: 'page', path: '@project' } },
          { 'fs.list': { path: '@project', depth: 1 } },
          { 'fs.read': { path: '@project/README.md' } },
          { 'fs.read': { path: '@project/README.md' } },
        ],
      },
      { calls: [{ 'fs.write': { path: '@project/secret/plan.md', content: 'no' } }] },
      { calls: [MOVE('end-99')] },
      { calls: [ASK] },
      { say: 'I write it down.', calls: [{ 'fs.write': { path: '@project/artifacts/intake.md', content: '# Intake\n\nA sign-up page\n' } }] },
      { say: 'It is written.', calls: [MOVE('decide-02-project-type', { artifacts: { append: ['artifacts/intake.md'] } })] },
    ],
    'decide-02-project-type': [{ say: '{{repeat:One more sentence, so that this takes a while. :40}}', fault: { hang: true } }],
  },
};

/** Makes a test of a project in which the model of this file may not write to `secret`. */
const withShop = (body, options = {}) =>
  withFixture({ model: MODEL, policy: 'deny = ["fs.write(@project/secret)"]', ...options }, async (fixture) => {
    const shop = await fixture.project('shop', { 'README.md': '# A sign-up page\n' });
    await body({ ...fixture, shop, said: (words) => fixture.log.getByText(words) });
  });

/** Makes a test of a run that asks, in view. */
const withQuestion = (body) =>
  withShop(async (fixture) => {
    const run = await fixture.startRun(fixture.shop.id);
    await fixture.showRun(fixture.shop.id, run);
    await fixture.tab.getByRole('radiogroup', { name: /Which kind of project/ }).waitFor();
    await fixture.pill('waiting').waitFor();
    await body({ ...fixture, run });
  });

/** Makes a test of a run that was answered and speaks, in view. */
const withSpeaker = (body) =>
  withShop(async (fixture) => {
    const run = await fixture.startRun(fixture.shop.id);
    await fixture.untilStatus(run, 'waiting-user');
    await fixture.api('POST', `/api/runs/${run}/say`, { text: 'greenfield' });
    await fixture.showRun(fixture.shop.id, run);
    await fixture.tab.locator('article[aria-busy=true]').getByText('One more sentence').waitFor();
    await body({ ...fixture, run });
  });

describe('the way to a run', () => {
  it('from a project to a run it takes two clicks, with graph, inputs, persona and policy in view', withShop(async ({ tab, go, shop }) => {
    await go('project', shop.id);
    await tab.getByRole('main').getByRole('link', { name: /hello-branch/ }).click();
    await tab.getByRole('application', { name: /0 of/ }).waitFor();
    for (const name of ['Workflow', 'Persona', 'Model']) await tab.getByLabel(name, { exact: true }).waitFor();
    for (const name of ['How it runs', 'Known values']) await tab.getByRole('group', { name }).waitFor();
    await tab.getByRole('button', { name: 'Run', exact: true }).click();
    await tab.getByRole('radiogroup', { name: /Which kind of project/ }).waitFor();
  }));
});

describe('the calls of a run', () => {
  it('are one line of 34 px, and those that only look are one line together', withQuestion(async ({ tab }) => {
    const group = tab.locator('.group').filter({ hasText: /Searched 2 times, listed a folder, read 2 files/ });
    await eventually(async () => assert.equal((await group.boundingBox()).height, 36, 'a line of 34 px and its border'));
    await group.getByRole('button').first().click();
    await eventually(async () => assert.equal(await group.locator('.tool .line').count(), 5));
    for (const line of await group.locator('.tool .line').all()) assert.equal((await line.boundingBox()).height, 34);
    // By keyboard: the line that names the step lies over the first rows, and a pointer may meet it.
    await group.locator('.tool .head').first().press('Enter');
    await group.getByRole('button', { name: 'Raw JSON' }).press('Enter');
    await group.getByText('"query"').first().waitFor();
  }));

  it('say, when refused, which rule, and what is allowed', withQuestion(async ({ tab, shop }) => {
    const [denied, moved] = [tab.locator('.tool.refused').nth(0), tab.locator('.tool.refused').nth(1)];
    await moved.waitFor();
    assert.match((await denied.textContent()) ?? '', /fs\.write\(@project\/secret\)/);
    assert.doesNotMatch((await denied.textContent()) ?? '', /Wrote/, 'what was not done is not told as done');
    assert.match((await moved.textContent()) ?? '', /allowed: decide-02-project-type/);
    assert.ok(!existsSync(join(shop.path, 'secret')));
  }));

  it('expand to the lines of a written file, and the way that was taken is thick', withSpeaker(async ({ tab, log }) => {
    const box = await log.boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.wheel(0, -20_000);
    // The list mounts what is in view, so the first card that fits is another one until the list has moved.
    const card = tab.locator('.tool:not(.refused)').filter({ hasText: 'intake.md' }).first();
    await eventually(async () => {
      const head = card.locator('.head');
      if ((await head.getAttribute('aria-expanded', { timeout: 5_000 })) === 'false') await head.click({ timeout: 5_000 });
      assert.ok(await card.getByRole('group', { name: 'Changed lines' }).getByText('A sign-up page').isVisible());
    });
    const taken = tab.locator('path.edge.taken').first();
    await taken.waitFor({ state: 'attached' });
    await eventually(async () => assert.equal(await taken.evaluate((node) => getComputedStyle(node).strokeWidth), '2.5px'));
  }));
});

describe('the graph of a run', () => {
  it('a node has its state as a shape, as words and in the list', withQuestion(async ({ tab }) => {
    const current = tab.locator('g.node.current');
    await eventually(async () => assert.match((await current.getAttribute('aria-label')) ?? '', /Waiting for you/));
    assert.equal(await current.locator('.mark path').count(), 1);
    assert.equal(await tab.locator('path.edge.next').first().evaluate((node) => getComputedStyle(node).strokeDasharray !== 'none'), true);
    await tab.getByRole('button', { name: 'Show as a list' }).click();
    await tab.getByRole('list', { name: 'Steps of the workflow' }).locator('[aria-current=step]').filter({ hasText: 'Waiting for you' }).waitFor();
  }));

  it('a long title leaves its buttons in the window', withFixture({ model: ownModel('changes.yaml'), packages: [] }, async ({ tab, folder, project, importPackage, startRun, showRun, untilStatus }) => {
    const name = 'a-package-with-a-name-that-is-so-long-that-no-header-has-room-for-it';
    const path = await alterExample(folder, 'long', 'hello-branch', {
      'bmad.json': (json) => void (json.name = name),
      'workflow.graph.json': (json) => void (json.nodes[0].title = 'A step with a title that is much too long for the node that it stands in and for two of its lines'),
    });
    const workflow = join(path, 'workflow.md');
    await writeFile(workflow, (await readFile(workflow, 'utf8')).replace('workflowType: hello-branch', `workflowType: ${name}`));
    await importPackage(path);
    const shop = await project('shop', { 'notes.md': Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`).join('') });
    const run = await startRun(shop.id, { package: name });
    await untilStatus(run, 'waiting-user');
    await showRun(shop.id, run);
    const graph = tab.getByRole('application');
    await graph.locator('text.title').first().waitFor();
    const outside = () =>
      tab.evaluate(() => [...document.querySelectorAll('section.inspector button')].filter((one) => one.getClientRects().length > 0 && one.getBoundingClientRect().right > innerWidth).length);
    await tab.getByRole('navigation', { name: 'Called workflows' }).getByText(name).waitFor();
    await eventually(async () => assert.equal(await outside(), 0));
    /** Texts that stand out of their node. */
    const wide = () =>
      graph.evaluate((one) =>
        [...one.querySelectorAll('[data-node]')].flatMap((node) => {
          const { right } = node.querySelector('.outline').getBoundingClientRect();
          return [...node.querySelectorAll('text')].filter((text) => text.getBoundingClientRect().right > right).map((text) => text.textContent);
        }),
      );
    await eventually(async () => assert.deepEqual(await wide(), []));
    await graph.locator('.node.current .second', { hasText: 'Waiting for you' }).waitFor();
    assert.match(await graph.locator('[data-node=step-01-intake] text.title').last().textContent(), /…$/);
  }));

  it('a called workflow has its own graph, and a way back to its caller', withFixture({ model: goldenModel('013-child-waits'), packages: ['nested-review'] }, async ({ tab, project, startRun, showRun, untilStatus }) => {
    const release = await project('release', {}, '013-child-waits');
    const run = await startRun(release.id, { package: 'nested-review', variables: { docPath: 'docs/lost.md' } });
    await untilStatus(run, 'waiting-user');
    await showRun(release.id, run);
    const callers = tab.getByRole('navigation', { name: 'Called workflows' });
    await callers.getByRole('button').first().waitFor();
    const label = () => tab.getByRole('application').getAttribute('aria-label');
    const inner = await label();
    await callers.getByRole('button').first().click();
    await until('the graph of the caller is shown', async () => (await label()) !== inner);
    await tab.getByRole('button', { name: 'Follow' }).click();
    await until('and that of the called one', async () => (await label()) === inner);
  }));
});

describe('a server that ends', () => {
  it('a question outlives the server, and the page needs no reload', withQuestion(async ({ tab, server, said }) => {
    await tab.evaluate(() => (globalThis.mark = 1));
    await server.crash();
    const lost = tab.getByRole('alert').filter({ hasText: 'The CrewAgent server cannot be reached.' });
    await lost.waitFor();
    await tab.locator('header').getByText('Connection lost').waitFor();
    // An answer that cannot be sent says why, without the marks of Markdown, until it can.
    await tab.getByRole('radio', { name: /A new one/ }).click();
    await tab.getByRole('button', { name: /^Answer/ }).click();
    const toast = tab.getByRole('region', { name: 'Messages' }).getByText('The CrewAgent server does not answer.');
    await toast.waitFor();
    assert.doesNotMatch((await tab.locator('body').innerText()) ?? '', /`crewagent/);
    await server.restart();
    await tab.getByText('Connected').waitFor();
    await lost.waitFor({ state: 'hidden' });
    await toast.waitFor({ state: 'hidden' });
    await tab.getByRole('button', { name: /^Answer/ }).click();
    const artifact = tab.locator('section.artifacts').getByRole('button', { name: /intake\.md/ });
    await artifact.waitFor();
    await eventually(async () => assert.match((await artifact.textContent()) ?? '', /Intake(?: New)?$/, 'with the step that made it'));
    assert.equal(await artifact.getAttribute('title'), 'artifacts/intake.md');
    await said('Answered:').waitFor();
    assert.equal(await tab.getByRole('radio', { name: /A new one/ }).count(), 0, 'it cannot be answered again');
    assert.equal(await tab.evaluate(() => globalThis.mark), 1);
  }));

  it('after kill -9 the project offers to resume, and says where and why', withSpeaker(async ({ tab, go, server, shop, pill, said }) => {
    await server.crash();
    await server.restart();
    await go('project', shop.id);
    const card = tab.getByRole('main').locator('.card.line');
    await eventually(async () => {
      const text = (await card.textContent()) ?? '';
      for (const part of [/Interrupted/, /its process ended/, /Decide the project type/]) assert.match(text, part);
    });
    await card.getByRole('button', { name: 'Resume' }).click();
    await pill('running').waitFor();
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await said('Stopped.').waitFor();
  }));
});

describe('the list of runs', () => {
  it('is filtered by state and by words, and says how long and how much', withShop(async ({ tab, api, go, shop, startRun, untilStatus, events }) => {
    const [stopped, waiting] = [await startRun(shop.id), await startRun(shop.id)];
    for (const run of [stopped, waiting]) await untilStatus(run, 'waiting-user');
    await api('POST', `/api/runs/${stopped}/say`, { text: 'greenfield' });
    await until('it moved on', async () => (await events('runs', stopped)).some((event) => event.type === 'turn.started' && event.nodeId === 'decide-02-project-type'));
    await api('POST', `/api/runs/${stopped}/stop`);
    await untilStatus(stopped, 'paused');
    await until('what it took is known', async () => (await api('GET', `/api/runs?project=${shop.id}`)).runs.find((run) => run.id === waiting).spent);
    await go('project', shop.id, 'runs');
    const runs = tab.locator('main .run');
    const hasCount = (count) => eventually(async () => assert.equal(await runs.count(), count));
    await hasCount(2);
    await tab.getByRole('button', { name: /^Waiting for you/ }).click();
    await hasCount(1);
    await eventually(async () => {
      const text = (await runs.textContent()) ?? '';
      for (const part of [/\d turns/, /tokens/, /\d s/]) assert.match(text, part);
    });
    await tab.getByRole('button', { name: /^Failed/ }).click();
    await tab.getByText('No run matches.').waitFor();
    await tab.getByRole('button', { name: /^All/ }).click();
    await tab.getByRole('searchbox', { name: 'Search runs' }).fill('decide-02');
    await hasCount(1);
  }));
});

describe('a run has a name', () => {
  it('by what its user said first, until it is renamed in the list', withFixture({ model: { nodes: { 'step-01-intake': [{ calls: [{ 'ui.ask_user': { question: 'What is it about?' } }] }, { say: 'I see.' }] } } }, async ({ tab, api, go, project, startRun, untilStatus }) => {
    const shop = await project('shop');
    const run = await startRun(shop.id);
    await untilStatus(run, 'waiting-user');
    await go('project', shop.id);
    const goOn = tab.getByRole('region', { name: 'Continue' });
    await goOn.getByText('What is it about?').waitFor();
    await api('POST', `/api/runs/${run}/say`, { text: 'A shop for bicycles' });
    await goOn.getByText('A shop for bicycles').waitFor();
    await tab.getByRole('complementary', { name: 'Conversations' }).getByRole('link', { name: /A shop for bicycles/ }).waitFor();
    await go('project', shop.id, 'runs');
    const row = tab.locator('main .run');
    await row.getByRole('button', { name: /^More for A shop/ }).click();
    await tab.getByRole('menuitem', { name: 'Rename' }).click();
    await tab.getByLabel('Title').fill('Bicycles');
    await tab.keyboard.press('Enter');
    await row.getByRole('link', { name: 'Bicycles' }).waitFor();
    await row.getByRole('checkbox').check();
    await tab.getByText('1 run is selected').waitFor();
    assert.equal((await api('GET', `/api/runs/${run}`)).title, 'Bicycles');
  }));
});

describe('a project whose folder moved', () => {
  it('is shown as broken, and can be located', withQuestion(async ({ tab, go, folder, shop }) => {
    const moved = join(folder, 'moved');
    await rename(shop.path, moved);
    await go();
    const card = tab.locator('.recents > li').filter({ hasText: 'shop' });
    await card.getByText('The folder is not there any more.').waitFor();
    await card.getByRole('button', { name: 'Locate' }).click();
    await tab.getByRole('dialog').getByLabel('Folder', { exact: true }).fill(moved);
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    await tab.getByRole('heading', { name: 'Continue' }).waitFor();
  }));

  it('can be removed', withFixture({}, async ({ tab, go, project }) => {
    const gone = await project('gone');
    await rm(gone.path, { recursive: true });
    await go();
    const card = tab.locator('.recents > li').filter({ hasText: 'gone' });
    await card.getByRole('button', { name: 'Remove' }).click();
    await tab.getByRole('dialog', { name: 'Remove the project "gone"' }).getByRole('button', { name: 'Remove' }).click();
    await card.waitFor({ state: 'detached' });
  }));
});
