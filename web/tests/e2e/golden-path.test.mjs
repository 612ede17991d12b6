/**
 * The golden path, and what every screen that the product cannot do without promises. Which test shows what
 * (app: `app.test.mjs`, hard: `hardship.test.mjs`, safe: `security.test.mjs`, long: `npm run long`):
 *
 * | # | promise | shown by |
 * |---|---|---|
 * | 1 | by keyboard alone; a first run leads to the model, the package, the run | "the golden path by keyboard alone", app "a first run leads" |
 * |   | a sample runs without a key | "workflow first" |
 * |   | broken projects can be located or removed | "a project whose folder moved" |
 * | 2 | a path or a dropped file; file, pointer, sentence, fix; nothing is written | "a broken package is told about", hard "a corrupt package", app "a broken package" |
 * | 3 | graph, inputs, persona, policy; at most three clicks | "from a project to a run it takes two clicks" |
 * | 4 | number, trigger, letters, candidates; no model is asked | "the menu of an agent", app "an agent" |
 * | 5 | frames, scrolling, reload in mid-stream, Stop within 200 ms | long, app "a work" |
 * | 6 | 34 px, groups, refusals with rule and what is allowed, raw JSON | "calls are one line", "a refused call says" |
 * |   | a change expands to its lines | app "a rule that asks" |
 * | 7 | every kind; numbers and Enter; words always; outlives the server; read-only after | app "a question is answered", "several options"; "a question outlives the server" |
 * | 8 | the change before the effect; refuse with a reason; drop the rule | app "a rule that asks" |
 * |   | four ways out, focus on none of them, this run, the count in the title | "approvals" |
 * | 9 | shape, words, list; what may come next is dashed | "a node has its state", app "the graph says where" |
 * | 10 | an artifact is there within a second; it can be read | "a question outlives the server", "workflow first" |
 * | 11 | after kill -9: where, why, Resume; filters; how long, how much | "after kill -9", "the list of runs" |
 * | 12 | the layer that fails; keys go in only; the policy holds at once and says why | "settings" |
 */

import assert from 'node:assert/strict';
import { existsSync, watch } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { altered, desk } from './fixture.mjs';
import { example, project, scenario, useModel } from './harness.mjs';
import { until } from './screens-fixture.mjs';

describe('the golden path, from an empty store', () => {
  let set, tab;
  before(async () => {
    set = await desk();
    ({ tab } = set);
  });
  after(() => set?.close());

  it('workflow first: the guide, the sample without a key, the question, the artifact', async () => {
    await tab.getByRole('heading', { name: 'Your first run, in three steps' }).waitFor();
    await tab.getByRole('button', { name: 'Run the sample' }).click();
    const dialog = tab.getByRole('dialog');
    await dialog.getByLabel('Folder', { exact: true }).fill(join(set.folder, 'sample'));
    await dialog.getByRole('button', { name: 'Choose this folder' }).click();
    await tab.locator('header .pill.waiting').waitFor();
    const hint = (await tab.getByText(/When it asks, answer:/).textContent()) ?? '';
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill(hint.replace(/^.*answer:/, '').trim());
    await field.press('Enter');
    await tab.locator('header .pill.done').waitFor();
    await tab.locator('section.artifacts button').last().click();
    await tab.locator('.file .page.reading').waitFor();
    assert.ok(((await tab.locator('.file .page.reading').textContent()) ?? '').length > 40);
  });

  it('agent first: the card, the menu, the item, the question, done', async () => {
    const story = await project(set.folder, 'story', '001-create-story-micro');
    await useModel(set.home, scenario('001-create-story-micro'));
    await set.api('POST', '/api/packages/import', { path: example('create-story-micro') });
    await tab.goto(set.server.origin);
    await tab.getByRole('button', { name: 'Open a folder' }).first().click();
    await tab.getByRole('dialog').getByLabel('Folder', { exact: true }).fill(story);
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    await tab.getByRole('main').getByRole('button', { name: /Bob/ }).click();
    await tab.getByRole('list', { name: 'What Bob offers' }).getByRole('button').first().click();
    await tab.getByText(/Which story shall I prepare/).first().waitFor();
    // The words come before the question itself, and what is said before that waits.
    await tab.locator('header .pill.waiting').waitFor();
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill('1-2-user-authentication');
    await field.press('Enter');
    await tab.locator('header .pill.done').waitFor();
    assert.ok(existsSync(join(story, 'artifacts/stories/1-2-user-authentication.md')));
    await tab.locator('section.artifacts').getByRole('button', { name: /stories\/1-2-user-authentication/ }).click();
    await tab.locator('.file .page.reading').getByRole('heading').first().waitFor();
  });

  it('had no errors', () => {
    // A run may be announced a moment before it is there.
    assert.deepEqual(set.errors.filter((error) => !/404.*\/api\/runs\//.test(error)), []);
  });
});

describe('the golden path by keyboard alone', () => {
  let set, tab;
  before(async () => {
    set = await desk();
    ({ tab } = set);
  });
  after(() => set?.close());

  /** What has the focus, as it is called; the ring around it must be seen. */
  const focused = () =>
    tab.evaluate(() => {
      let node = document.activeElement;
      while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
      if (!node || node === document.body) return { lost: true, name: '' };
      const isRung = (one) => {
        const style = one && getComputedStyle(one);
        return Boolean(style) && ((style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none');
      };
      const label = node.id ? document.querySelector(`label[for="${CSS.escape(node.id)}"]`)?.textContent : '';
      return {
        lost: false,
        name: (node.getAttribute('aria-label') ?? (label || node.textContent) ?? '').trim().replace(/\s+/g, ' '),
        tag: node.tagName,
        // The box around a field may have it.
        ring: isRung(node) || isRung(node.parentElement),
      };
    });
  async function press(key) {
    await tab.keyboard.press(key);
    const now = await focused();
    assert.ok(!now.lost, `after ${key} nothing has the focus`);
    assert.ok(now.ring, `after ${key} the focus on ${now.tag} ${now.name} cannot be seen`);
    return now;
  }
  /** Presses Tab until something of this name has the focus. */
  async function tabTo(name, key = 'Tab') {
    const seen = [];
    for (let times = 0; times < 60; times += 1) {
      const now = await press(key);
      if (name.test(now.name)) return;
      seen.push(now.name.slice(0, 30));
    }
    assert.fail(`${name} is not reached: ${seen.join(' | ')}`);
  }

  it('from the first page to the finished run and its artifact', async () => {
    await tab.getByRole('heading', { name: 'Your first run, in three steps' }).waitFor();
    await tabTo(/^Run the sample/);
    await press('Enter');
    await tab.getByRole('dialog').getByLabel('Folder', { exact: true }).waitFor();
    await tab.getByRole('list', { name: 'Folders' }).waitFor();
    await tabTo(/^Folder$/);
    await press('Control+a');
    await tab.keyboard.type(join(set.folder, 'sample'));
    await tabTo(/^Choose this folder/);
    await press('Enter');
    await tab.locator('header .pill.waiting').waitFor();
    const hint = (await tab.getByText(/When it asks, answer:/).textContent()) ?? '';
    await tabTo(/^Message$/);
    await tab.keyboard.type(hint.replace(/^.*answer:/, '').trim());
    await press('Enter');
    await tab.locator('header .pill.done').waitFor();
    assert.equal((await focused()).lost, false);
    await tabTo(/\.md/);
    await press('Enter');
    await tab.locator('.file .page.reading').waitFor();
  });

  it('and back by shortcuts: the list of runs, a run, its tabs', async () => {
    await press('Escape');
    await press('g');
    await press('r');
    await tab.getByRole('heading', { name: 'Runs' }).waitFor();
    assert.equal((await focused()).lost, false);
    await tabTo(new RegExp(`^${(await tab.locator('main .run .name').first().textContent()) ?? ''}$`));
    await press('Enter');
    await tab.getByRole('log').waitFor();
    for (let at = 0; at < 5; at += 1) await press('F6');
    await press('Control+k');
    await tab.getByRole('combobox').waitFor();
    await press('Escape');
    assert.equal((await focused()).lost, false);
  });
});

const MODEL = `
scenario: hello-branch, with everything that a row of a conversation can be
nodes:
  step-01-intake:
    - say: "I look around."
      calls:
        - fs.search: { query: "sign", path: "@project" }
        - fs.search: { query: "page", path: "@project" }
        - fs.list: { path: "@project", depth: 1 }
        - fs.read: { path: "@project/README.md" }
        - fs.read: { path: "@project/README.md" }
    - calls:
        - fs.write: { path: "@project/secret/plan.md", content: "no" }
    - calls:
        - fs.apply_patch: { path: "@state/workflow.md", operation: updateFrontmatter, update: { currentNodeId: { set: end-99 } } }
    - calls:
        - ui.ask_user:
            question: "Which kind of project is it?"
            kind: choice
            options: [{ value: greenfield, label: A new one }, { value: brownfield, label: One that exists }]
    - say: "I write it down."
      calls:
        - fs.write: { path: "@project/artifacts/intake.md", content: "# Intake\\n\\nA sign-up page\\n" }
    - calls:
        - fs.write: { path: "@project/artifacts/second.md", content: "# Second\\n" }
    - say: "Both are written."
      calls:
        - fs.apply_patch:
            path: "@state/workflow.md"
            operation: updateFrontmatter
            update: { artifacts: { append: [artifacts/intake.md] }, currentNodeId: { set: decide-02-project-type } }
  decide-02-project-type:
    - say: "{{repeat:One more sentence, so that this takes a while. :400}}"
      pace: { characters: 6, milliseconds: 15 }
chat:
  - say: "Hello."
    times: 20
`;

describe('what the screens promise', () => {
  let set, tab, shop;
  before(async () => {
    set = await desk({ model: MODEL, policy: 'deny = ["fs.write(@project/secret)"]' });
    ({ tab } = set);
    shop = await set.project('shop', { 'README.md': '# A sign-up page\n' });
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
  });
  after(() => set?.close());
  const said = (words) => tab.getByRole('log').getByText(words);

  it('from a project to a run it takes two clicks, with graph, inputs, persona and policy in view', async () => {
    await tab.goto(`${set.server.origin}/project/${shop.id}`);
    let clicks = 0;
    const click = (one) => ((clicks += 1), one.click());
    await click(tab.getByRole('main').getByRole('link', { name: /hello-branch/ }));
    await tab.getByRole('application', { name: /0 of/ }).waitFor();
    for (const name of ['Workflow', 'Persona', 'Model']) await tab.getByLabel(name, { exact: true }).waitFor();
    for (const name of ['How it runs', 'Inputs']) await tab.getByRole('group', { name }).waitFor();
    await click(tab.getByRole('button', { name: 'Run', exact: true }));
    await tab.getByRole('radiogroup', { name: /Which kind of project/ }).waitFor();
    assert.ok(clicks <= 3);
  });

  it('calls are one line of 34 px, and those that only look are one line together', async () => {
    const group = tab.locator('.group');
    assert.match((await group.textContent()) ?? '', /Searched 2 times, listed a folder, read 2 files/);
    assert.equal((await group.boundingBox()).height, 36, 'a line of 34 px and its border');
    await group.getByRole('button').first().click();
    assert.equal(await group.locator('.tool .line').count(), 5);
    for (const box of await group.locator('.tool .line').all()) assert.equal((await box.boundingBox()).height, 34);
    await group.locator('.tool .head').first().click();
    await group.getByRole('button', { name: 'Raw JSON' }).click();
    await group.getByText('"query"').first().waitFor();
    await group.getByRole('button').first().click();
  });

  it('a refused call says which rule, and what is allowed', async () => {
    const [denied, moved] = [tab.locator('.tool.refused').nth(0), tab.locator('.tool.refused').nth(1)];
    assert.match((await denied.textContent()) ?? '', /fs\.write\(@project\/secret\)/);
    assert.doesNotMatch((await denied.textContent()) ?? '', /Wrote/, 'what was not done is not told as done');
    assert.match((await moved.textContent()) ?? '', /allowed: decide-02-project-type/);
    assert.ok(!existsSync(join(shop.path, 'secret')));
  });

  it('a node has its state as a shape, as words and in the list', async () => {
    const current = tab.locator('g.node.current');
    assert.match((await current.getAttribute('aria-label')) ?? '', /Waiting for you/);
    assert.equal(await current.locator('.mark path').count(), 1);
    assert.equal(await tab.locator('path.edge.next').first().evaluate((node) => getComputedStyle(node).strokeDasharray !== 'none'), true);
    await tab.getByRole('button', { name: 'Show as a list' }).click();
    const list = tab.getByRole('list', { name: 'Steps of the workflow' });
    assert.match((await list.locator('[aria-current=step]').textContent()) ?? '', /Waiting for you/);
    await tab.getByRole('button', { name: 'Show as a list' }).click();
  });

  it('a question outlives the server, and the page needs no reload', async () => {
    await tab.evaluate(() => (globalThis.mark = 1));
    await set.server.crash();
    await tab.getByText('Reconnecting').or(tab.getByText('Offline')).first().waitFor();
    await set.server.again();
    await tab.getByText('Connected').waitFor();
    await tab.getByRole('radio', { name: /A new one/ }).click();
    const begun = Promise.race([written(join(shop.path, 'artifacts'), 'intake.md'), tab.waitForTimeout(10_000)]);
    await mkdir(join(shop.path, 'artifacts'), { recursive: true });
    await tab.getByRole('button', { name: /^Answer/ }).click();
    const at = await begun;
    await tab.locator('section.artifacts').getByRole('button', { name: /intake\.md/ }).waitFor();
    const late = Date.now() - at;
    assert.ok(late < 1000, `the artifact was shown ${late} ms after it was written`);
    const artifact = tab.locator('section.artifacts').getByRole('button', { name: /intake\.md/ });
    assert.match((await artifact.textContent()) ?? '', /Intake$/, 'with the step that made it');
    assert.equal(await artifact.getAttribute('title'), 'artifacts/intake.md');
    await said('Answered:').waitFor();
    assert.equal(await tab.getByRole('radio', { name: /A new one/ }).count(), 0, 'it cannot be answered again');
    assert.equal(await tab.evaluate(() => globalThis.mark), 1);
  });

  /** When a file of a folder appears. */
  async function written(folder, name) {
    await mkdir(folder, { recursive: true });
    return new Promise((done) => {
      const watcher = watch(folder, (_, file) => {
        if (file !== name) return;
        watcher.close();
        done(Date.now());
      });
    });
  }

  it('a written file expands to its lines, and the way that was taken is thick', async () => {
    // The model speaks on; whoever reads above lets go of the end.
    const log = await tab.getByRole('log').boundingBox();
    await tab.mouse.move(log.x + log.width / 2, log.y + log.height / 2);
    await tab.mouse.wheel(0, -20_000);
    await tab.locator('.frame > .pill').waitFor();
    const card = tab.locator('.tool:not(.refused)').filter({ hasText: 'intake.md' }).first();
    await card.locator('.head').click();
    assert.match((await card.getByRole('group', { name: 'Changed lines' }).textContent()) ?? '', /A sign-up page/);
    await tab.locator('path.edge.taken').first().waitFor({ state: 'attached' });
    assert.equal(await tab.locator('path.edge.taken').first().evaluate((node) => getComputedStyle(node).strokeWidth), '2.5px');
  });

  it('after kill -9 the project offers to resume, and says where and why', async () => {
    await until('it speaks', async () => (await tab.locator('article[aria-busy=true]').count()) > 0);
    await set.server.crash();
    await set.server.again();
    await tab.goto(`${set.server.origin}/project/${shop.id}`);
    const card = tab.getByRole('main').locator('.card.line');
    const text = (await card.textContent()) ?? '';
    assert.match(text, /Interrupted/);
    assert.match(text, /its process ended/);
    assert.match(text, /decide-02-project-type/);
    await card.getByRole('button', { name: 'Resume' }).click();
    await until('it is at work', async () => (await tab.locator('header .pill.running').count()) > 0);
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await said('Stopped.').waitFor();
  });

  it('the list of runs is filtered by state and by words, and says how long and how much', async () => {
    const other = await set.run(shop.id, 'hello-branch');
    await until('it waits', async () => (await set.api('GET', `/api/runs/${other}`)).status === 'waiting-user');
    await until('it is left', async () => (await set.api('GET', `/api/runs?project=${shop.id}`)).runs.some((run) => run.spent));
    await tab.goto(`${set.server.origin}/project/${shop.id}/runs`);
    await tab.locator('main .run').first().waitFor();
    assert.equal(await tab.locator('main .run').count(), 2);
    await tab.getByRole('button', { name: 'Waiting for you' }).click();
    assert.equal(await tab.locator('main .run').count(), 1);
    const text = (await tab.locator('main .run').textContent()) ?? '';
    for (const part of [/\d turns/, /tokens/, /price unknown/, /\d s/]) assert.match(text, part);
    await tab.getByRole('button', { name: 'Failed' }).click();
    await tab.getByText('No run matches.').waitFor();
    await tab.getByRole('button', { name: 'All', exact: true }).click();
    await tab.getByRole('searchbox', { name: 'Search runs' }).fill('decide-02');
    assert.equal(await tab.locator('main .run').count(), 1);
  });

  it('a called workflow has its own graph, and a way back to its caller', async () => {
    await set.api('POST', '/api/packages/import', { path: example('nested-review') });
    const path = await project(set.folder, 'release', '013-child-waits');
    const { id } = await set.api('POST', '/api/projects', { path });
    const run = await set.run(id, 'nested-review', { model: scenario('013-child-waits'), variables: { docPath: 'docs/lost.md' } });
    await until('it waits', async () => (await set.api('GET', `/api/runs/${run}`)).status === 'waiting-user');
    await set.show(id, run);
    const way = tab.getByRole('navigation', { name: 'Called workflows' });
    await way.getByRole('button').first().waitFor();
    const inner = await tab.getByRole('application').getAttribute('aria-label');
    await way.getByRole('button').first().click();
    await until('the graph of the caller is shown', async () => (await tab.getByRole('application').getAttribute('aria-label')) !== inner);
    await tab.getByRole('button', { name: 'Follow' }).click();
    await until('and that of the called one', async () => (await tab.getByRole('application').getAttribute('aria-label')) === inner);
  });

  it('a project whose folder moved is shown as broken, and can be located or removed', async () => {
    const moved = join(set.folder, 'moved');
    const gone = await set.project('gone');
    await rename(shop.path, moved);
    await rm(gone.path, { recursive: true });
    await tab.goto(set.server.origin);
    const card = (name) => tab.locator('.recents > li').filter({ hasText: name });
    await card('shop').getByText('The folder is not there any more.').waitFor();
    await card('shop').getByRole('button', { name: 'Locate' }).click();
    await tab.getByRole('dialog').getByLabel('Folder', { exact: true }).fill(moved);
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    await tab.getByRole('heading', { name: 'Continue' }).waitFor();
    await tab.goto(set.server.origin);
    tab.once('dialog', (dialog) => void dialog.accept());
    await card('gone').getByRole('button', { name: 'Remove' }).click();
    await until('it is gone', async () => (await card('gone').count()) === 0);
  });

  it('a broken package is told about by file, place, sentence and fix, and nothing is written', async () => {
    const path = await altered(set.folder, 'broken', 'hello-branch', {
      'agents.json': (json) => {
        json.agents[1].persona.mood = 'bad';
      },
    });
    const before = (await set.api('GET', '/api/packages')).packages;
    await tab.goto(`${set.server.origin}/import`);
    await tab.getByLabel('File or folder on this computer').fill(path);
    await tab.getByRole('button', { name: 'Check' }).click();
    const finding = tab.locator('.finding').first();
    const text = (await finding.textContent()) ?? '';
    for (const part of [/Error/, /agents\.json:\d+:\d+/, /\/agents\/1\/persona\/mood/, /BM\d{3}/, /mood/]) assert.match(text, part);
    assert.ok(((await finding.locator('p.soft').textContent()) ?? '').length > 10, 'it says what to do');
    assert.equal(await tab.getByRole('button', { name: 'Import', exact: true }).count(), 0);
    assert.deepEqual((await set.api('GET', '/api/packages')).packages, before);
  });
});

describe('the menu of an agent', () => {
  let set, tab, talk;
  before(async () => {
    set = await desk({ model: MODEL });
    ({ tab } = set);
    const path = await altered(set.folder, 'menus', 'hello-branch', {
      'bmad.json': (json) => (json.name = 'menus'),
      'agents.json': (json) => {
        const item = { description: '[CL] Say whether the project is new', trigger: 'classify', action: '#classify-project' };
        json.agents[1].menu = [item, { ...item, trigger: 'review-code', description: 'Review the code' }, { ...item, trigger: 'review-docs', description: 'Review the documents' }];
      },
    });
    await set.api('POST', '/api/packages/import', { path });
    const { id } = await set.project('shop', { 'README.md': 'x' });
    ({ id: talk } = await set.api('POST', '/api/conversations', { project: id, package: 'menus', agent: 'pm' }));
    await tab.goto(`${set.server.origin}/project/${id}/work/${talk}`);
    await tab.getByRole('list', { name: 'What John offers' }).waitFor();
  });
  after(() => set?.close());
  const events = async () => (await set.api('GET', `/api/conversations/${talk}/events?after=0`)).events;
  const asked = async () => (await events()).filter((event) => event.type === 'turn.started').length;
  async function type(words) {
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill(words);
    await field.press('Enter');
    await until('it is sent', async () => (await field.inputValue()) === '');
  }

  it('shows number, description and trigger, and no model was asked', async () => {
    const first = (await tab.getByRole('list', { name: 'What John offers' }).getByRole('listitem').nth(1).textContent()) ?? '';
    assert.match(first, /2\s*Review the code\s*review-code/);
    assert.equal(await asked(), 0);
  });

  it('of several that match, numbered candidates are shown, without a model', async () => {
    await type('review');
    const choices = tab.locator('.choices');
    await choices.getByText('Which one do you mean?').waitFor();
    assert.equal(await choices.getByRole('button').count(), 2);
    assert.match((await choices.getByRole('button').first().textContent()) ?? '', /^\d/);
    assert.equal(await asked(), 0);
  });

  for (const [how, words] of [['a number', '1'], ['a trigger', 'review-docs'], ['a few letters', 'reviw code']]) {
    it(`an item is chosen by ${how}`, async () => {
      const before = await asked();
      await type(words);
      await until('the model was asked', async () => (await asked()) > before);
      const resolved = (await events()).findLast((event) => event.type === 'command.resolved');
      assert.match(JSON.stringify(resolved), /RunAction|ExecScript/);
      await until('it rests', async () => (await set.api('GET', `/api/conversations/${talk}`)).atWork === false);
    });
  }
});

describe('approvals', () => {
  let set, tab;
  before(async () => {
    set = await desk({ model: MODEL, policy: 'ask = ["fs.write(@project/artifacts)"]' });
    ({ tab } = set);
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
  });
  after(() => set?.close());

  it('are counted in the title, have four ways out, and take none by themselves', async () => {
    const { id } = await set.project('shop', { 'README.md': 'x' });
    const runs = [await set.run(id, 'hello-branch'), await set.run(id, 'hello-branch')];
    for (const run of runs) {
      await until('it asks', async () => (await set.api('GET', `/api/runs/${run}`)).question);
      await set.api('POST', `/api/runs/${run}/say`, { text: 'greenfield' });
      await until('it waits for consent', async () => (await set.api('GET', `/api/runs/${run}`)).question?.kind === 'approval');
    }
    await set.show(id, runs[0]);
    await until('two wait', async () => (await tab.title()).startsWith('(2) Needs approval'));
    for (const name of ['Allow once', 'Allow for this run', 'Always: drop this rule', 'Refuse…']) await tab.getByRole('button', { name }).waitFor();
    assert.doesNotMatch(await tab.evaluate(() => document.activeElement?.textContent ?? ''), /^(Allow|Always)/);
    assert.ok(!existsSync(join(set.folder, 'shop/artifacts/intake.md')), 'nothing happened yet');
    await tab.keyboard.press('Enter');
    await tab.keyboard.press('Escape');
    assert.ok((await set.api('GET', `/api/runs/${runs[0]}`)).question, 'no key consents by accident');
    // The whole run: the second file is not asked about.
    await tab.getByRole('button', { name: 'Allow for this run' }).click();
    await tab.getByRole('log').getByText('Both are written.').waitFor();
    assert.ok(existsSync(join(set.folder, 'shop/artifacts/second.md')));
    await until('one waits', async () => (await tab.title()).startsWith('(1)'));
  });
});

describe('settings', () => {
  let set, tab, provider, answer;
  const KEY = 'sk-very-secret-0123456789';
  before(async () => {
    set = await desk();
    ({ tab } = set);
    provider = createServer((incoming, outgoing) => {
      incoming.resume();
      incoming.on('end', () => {
        outgoing.writeHead(answer.status, { 'content-type': 'application/json' });
        outgoing.end(JSON.stringify(answer.body));
      });
    });
    await new Promise((done) => provider.listen(0, '127.0.0.1', done));
  });
  after(async () => {
    await set?.close();
    provider?.close();
  });

  it('a test of the connection names the layer that fails', async () => {
    const here = `127.0.0.1:${provider.address().port}`;
    const error = (message, code) => ({ error: { message, code } });
    for (const [layer, url, reply] of [
      ['DNS', 'http://no-such-host.invalid/v1', undefined],
      ['Connection', 'http://127.0.0.1:9/v1', undefined],
      ['TLS', `https://${here}/v1`, undefined],
      ['Key', `http://${here}/v1`, { status: 401, body: error('bad key', 'invalid_api_key') }],
      ['Model', `http://${here}/v1`, { status: 404, body: error('The model `m` does not exist', 'model_not_found') }],
      ['Tools', `http://${here}/v1`, { status: 200, body: { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }] } }],
    ]) {
      answer = reply;
      await set.api('PUT', '/api/models/mine', { model: 'm', profile: 'openai', baseUrl: url, key: KEY, useIt: true });
      await tab.goto(`${set.server.origin}/settings/models`);
      await tab.getByRole('button', { name: 'Test connection' }).click();
      const failed = tab.getByRole('list', { name: 'The way to the model' }).getByRole('listitem').filter({ has: tab.locator('[aria-label="Failed"], title:text("Failed")') });
      await tab.getByRole('list', { name: 'The way to the model' }).waitFor();
      const text = (await failed.first().textContent()) ?? '';
      assert.ok(text.includes(layer), `${layer}: ${text}`);
    }
  });

  it('a key goes in and never comes out', async () => {
    await tab.getByRole('button', { name: 'Edit' }).click();
    assert.doesNotMatch(await tab.content(), new RegExp(KEY));
    await tab.getByLabel('Type it here').or(tab.getByRole('radio', { name: 'Type it here' })).first().click();
    assert.equal(await tab.getByRole('dialog').locator('input[type=password]').count(), 1);
    await tab.keyboard.press('Escape');
    for (const path of ['/api/models', '/api/settings', '/api/app', '/api/doctor']) {
      assert.ok(!JSON.stringify(await set.api('GET', path)).includes(KEY), path);
    }
  });

  it('the policy holds at once, and each line says which rule decides', async () => {
    await tab.goto(`${set.server.origin}/settings/policy`);
    await tab.getByRole('radio', { name: 'Write files: Ask first' }).click();
    const row = tab.getByRole('row', { name: /Write files/ });
    await row.getByText('rule fs.write, settings').waitFor();
    assert.deepEqual((await set.api('GET', '/api/settings')).settings.find((one) => one.key === 'policy.ask').value, ['fs.write']);
    assert.match((await tab.getByRole('row', { name: /Read files/ }).textContent()) ?? '', /Allow.*no rule/);
  });
});
