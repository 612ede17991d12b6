/** A run in the page: its questions, its replies as they come, Stop, the graph, a replay, its files, and a server that is started anew. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, example, makeProject, ownModel, serve, until } from './harness.mjs';

const EVERY_QUESTION = ownModel('every-question.yaml');
const SENTENCE = 'One more sentence about the plan, so that this takes a while. ';
const LONG_REPLY = { say: `{{repeat:${SENTENCE}:900}}Is that right?`, pace: { characters: 6, milliseconds: 15 } };
const STREAMS = { nodes: { 'step-01-intake': [LONG_REPLY] } };
const STREAMS_FAST = { nodes: { 'step-01-intake': [{ ...LONG_REPLY, pace: { characters: 20, milliseconds: 15 } }] } };
/** Writes its artifact, moves on, and waits there. */
const MOVES = {
  nodes: {
    'step-01-intake': [
      { calls: [{ 'fs.write': { path: '@project/artifacts/intake.md', content: '# Intake\n' } }] },
      { calls: [{ 'fs.apply_patch': { path: '@state/workflow.md', operation: 'updateFrontmatter', update: { artifacts: { append: ['artifacts/intake.md'] }, currentNodeId: { set: 'decide-02-project-type' } } } }] },
    ],
    'decide-02-project-type': [{ say: 'Which way shall it go?' }],
  },
};

/** Makes a test of a run of its own, which is in view. */
const withRun = (model, body) =>
  withFixture({ model }, async (fixture, t) => {
    const shop = await fixture.project('acme-shop', {}, '002-branch-greenfield');
    const run = await fixture.startRun(shop.id);
    await fixture.showRun(shop.id, run);
    await body({ ...fixture, shop, run, said: (words) => fixture.log.getByText(words) }, t);
  });

describe('the questions of a run', () => {
  it('a first run leads from the package to the question, by keyboard alone', withFixture({ model: EVERY_QUESTION, packages: [] }, async ({ tab, folder, go }) => {
    const shop = await makeProject(folder, 'acme-shop', '002-branch-greenfield');
    await go();
    await tab.getByRole('heading', { name: 'Your first run, in three steps' }).waitFor();
    await tab.getByRole('link', { name: 'Import a package' }).press('Enter');
    await tab.getByLabel('File or folder on this computer').fill(example('hello-branch'));
    await tab.keyboard.press('Enter');
    await tab.getByText('The package is valid.').waitFor();
    await tab.getByRole('button', { name: 'Import', exact: true }).press('Enter');
    await tab.getByRole('button', { name: 'Another folder…' }).press('Enter');
    const path = tab.getByLabel('Folder', { exact: true });
    await until('the folder is listed', async () => (await path.inputValue()) !== '');
    await path.fill(shop);
    await tab.getByRole('button', { name: 'Choose this folder' }).press('Enter');
    await tab.getByRole('button', { name: 'Run', exact: true }).press('Enter');
    await tab.getByRole('radiogroup', { name: /Which kind of project/ }).waitFor();
  }));

  it('a question is answered with a number and Enter, and cannot be changed afterwards', withRun(EVERY_QUESTION, async ({ tab, said }) => {
    await tab.getByRole('radio', { name: /A new one/ }).press('2');
    await tab.getByRole('radio', { name: /One that exists/, checked: true }).waitFor();
    await tab.keyboard.press('1');
    await tab.getByRole('radio', { name: /A new one/, checked: true }).waitFor();
    await tab.keyboard.press('Enter');
    await said('Answered: A new one').waitFor();
    await said('What matters most? Choose one or more.').waitFor();
    assert.equal(await tab.getByRole('radio', { name: /A new one/ }).count(), 0);
  }));

  it('several options, a yes or no, a form and words answer the other questions', withRun(EVERY_QUESTION, async ({ tab, api, run, said, send, untilStatus }) => {
    await untilStatus(run, 'waiting-user');
    await api('POST', `/api/runs/${run}/say`, { text: 'greenfield' });
    await tab.getByRole('checkbox', { name: /Speed/ }).click();
    await tab.getByRole('checkbox', { name: /Quality/ }).click();
    await tab.getByRole('button', { name: /^Answer/ }).click();
    await tab.getByRole('button', { name: /^Yes/ }).waitFor();
    await tab.keyboard.press('1');
    await said('Answered: Yes').waitFor();
    await tab.getByLabel('Name of the group').fill('R');
    await tab.getByRole('button', { name: 'Answer', exact: true }).click();
    await tab.getByText('This is too short or too long.').waitFor();
    await tab.getByText('This is needed.').waitFor();
    await tab.getByLabel('Name of the group').fill('Repair');
    await tab.getByLabel('Visitors a month').fill('20');
    await tab.getByRole('button', { name: 'Answer', exact: true }).click();
    await said('In one sentence: what should it do?').waitFor();
    await send('A sign-up page for the repair cafe');
    await said('Now I think about which way to go.').waitFor();
    await said('State update refused').first().waitFor();
    await tab.getByRole('button', { name: /intake\.md/ }).first().waitFor();
  }));

  it('Enter while an input method composes a word does not send it', withRun({ nodes: { 'step-01-intake': [{ say: 'Hello. What now?' }, { say: 'I heard {{input}}. What else?', times: 9 }] } }, async ({ field, run, events, pill, said }) => {
    await pill('waiting').waitFor();
    await field.fill('ni hao');
    await field.evaluate((node) => {
      node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }));
      node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }));
    });
    assert.equal(await field.inputValue(), 'ni hao');
    await field.press('Enter');
    await said('I heard ni hao.').waitFor();
    assert.equal((await events('runs', run)).filter((event) => event.type === 'user.input').length, 1);
  }));
});

describe('a reply that streams', () => {
  it('a page that is loaded anew in the middle of a reply loses nothing', withRun(STREAMS, async ({ tab }) => {
    const last = tab.locator('article').last();
    await until('words come', async () => ((await last.textContent()) ?? '').includes('One more sentence'));
    await tab.reload();
    await until('the words are there again', async () => ((await last.textContent()) ?? '').includes(`${SENTENCE}One`));
    const text = (await last.textContent()) ?? '';
    assert.ok(!text.includes('while. while.'), 'no piece comes twice');
  }));

  it('scrolling up lets go of the end, and what is read does not move', withRun(STREAMS_FAST, async ({ tab, log }) => {
    const gap = () => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
    await until('the list is longer than the page', () => log.evaluate((node) => node.scrollTop > 500));
    const box = await log.boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.wheel(0, -400);
    await tab.locator('.frame > .pill').waitFor();
    await until('the wheel has moved it', async () => (await gap()) > 300);
    const moved = await log.evaluate(async (node) => {
      const nextFrame = () => new Promise((done) => requestAnimationFrame(done));
      // The wheel moves it over several frames.
      for (let still = 0, last = node.scrollTop; still < 10; still = node.scrollTop === last ? still + 1 : 0) {
        last = node.scrollTop;
        await nextFrame();
      }
      const top = node.getBoundingClientRect().top;
      const anchor = [...node.querySelectorAll('.item')].find((one) => one.getBoundingClientRect().top > top + 10) ?? node.querySelector('.item');
      const start = anchor.getBoundingClientRect().top;
      let most = 0;
      for (let frame = 0; frame < 60; frame += 1) {
        await nextFrame();
        most = Math.max(most, Math.abs(anchor.getBoundingClientRect().top - start));
      }
      return most;
    });
    assert.ok(moved <= 2, `it moved by ${moved} px`);
    await tab.locator('.frame > .pill').click();
    await until('it is at the end', async () => (await gap()) < 48);
  }));

  it('a message that is sent meanwhile waits, and Stop ends the reply', withRun(STREAMS, async ({ tab, said, send, pill }) => {
    await said('One more sentence').waitFor();
    await send('later');
    await tab.getByRole('list', { name: 'Waiting to be sent' }).waitFor();
    await tab.getByRole('button', { name: 'Remove', exact: true }).click();
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await said('Stopped.').waitFor();
    await pill('paused').waitFor();
  }));
});

describe('what is beside a run', () => {
  it('the graph says where the run is, also as a list', withRun(MOVES, async ({ tab, said }) => {
    await said('Which way shall it go?').waitFor();
    await tab.getByRole('button', { name: 'Show as a list' }).click();
    await tab.locator('ol.nodes [aria-current=step]').filter({ hasText: 'Decide the project type' }).waitFor();
  }));

  it('a replay shows what was, and does nothing', withRun({ nodes: { 'step-01-intake': [{ say: 'First words?' }, { say: 'Later words?' }] } }, async ({ tab, pill, run, said, send, events }) => {
    await pill('waiting').waitFor();
    await send('Go on');
    await said('Later words?').waitFor();
    await pill('waiting').waitFor();
    const before = (await events('runs', run)).filter((event) => event.type !== 'run.finished').length;
    await tab.getByRole('button', { name: 'Replay', exact: true }).click();
    await tab.getByText(/not live/).waitFor();
    await tab.getByRole('slider', { name: 'Event' }).fill('3');
    await said('Later words?').waitFor({ state: 'hidden' });
    await tab.getByRole('button', { name: 'Back to live' }).click();
    await said('Later words?').waitFor();
    await tab.getByRole('button', { name: 'Replay', exact: true }).click();
    await tab.getByRole('slider', { name: 'Event' }).fill('1');
    await said('Later words?').waitFor({ state: 'hidden' });
    await tab.getByRole('button', { name: 'Play', exact: true }).click();
    await said('Later words?').waitFor();
    await tab.getByRole('button', { name: 'Play', exact: true }).waitFor();
    await tab.keyboard.press('Escape');
    assert.equal((await events('runs', run)).filter((event) => event.type !== 'run.finished').length, before);
  }));

  it('a replay comes in front of a file', withRun(MOVES, async ({ tab }) => {
    await tab.locator('section.artifacts button').first().click();
    await tab.getByRole('button', { name: 'Source' }).waitFor();
    await tab.getByRole('button', { name: 'Replay', exact: true }).click();
    await tab.getByRole('slider', { name: 'Event' }).waitFor();
    await tab.getByRole('tab', { name: 'Conversation', selected: true }).waitFor();
  }));

  it('a file that both sides changed is kept twice until the user decides', withRun(MOVES, async ({ tab, shop }) => {
    await tab.locator('section.artifacts button').first().click();
    await tab.getByRole('button', { name: 'Source' }).click();
    const editor = tab.locator('.host .cm-content');
    await editor.click();
    await tab.keyboard.type('Mine. ');
    await editor.getByText('Mine.').waitFor();
    await writeFile(join(shop.path, 'artifacts/intake.md'), '# Theirs\n');
    await tab.keyboard.press('Control+s');
    await tab.getByRole('alert').getByText(/was changed on the disk/).waitFor();
    await tab.getByRole('button', { name: 'Take theirs' }).click();
    await editor.getByText('Theirs').waitFor();
  }));

  it('the language changes without loading the page anew', withRun(MOVES, async ({ tab, field }) => {
    await field.waitFor();
    await tab.evaluate(() => (globalThis.mark = 1));
    await tab.keyboard.press('Control+k');
    await tab.getByRole('combobox').fill('简体');
    await tab.getByRole('option', { name: /简体/ }).waitFor();
    await tab.keyboard.press('Enter');
    await tab.getByRole('tab', { name: '对话' }).waitFor();
    assert.equal(await tab.evaluate(() => globalThis.mark), 1);
    await eventually(async () => assert.equal(await tab.evaluate(() => document.documentElement.lang), 'zh-CN'));
  }));
});

describe('a server that was killed', () => {
  const HANGS = { nodes: { 'step-01-intake': [{ say: 'Now I think about it. What else?' }, { say: 'One more', fault: { hang: true } }] } };

  it('is started at another address, and the run resumes there', withRun(HANGS, async ({ tab, home, server, send, pill, said }) => {
    await pill('waiting').waitFor();
    await send('Go on');
    await said('One more').waitFor();
    const { pathname } = new URL(tab.url());
    await server.crash();
    await tab.getByText('Offline').or(tab.getByText('Reconnecting')).first().waitFor();
    const other = await serve(home);
    try {
      await tab.goto(other.enter);
      await tab.goto(other.origin + pathname);
      await said('Now I think about it.').waitFor();
      await tab.getByRole('button', { name: 'Resume' }).first().click();
      await pill('running').waitFor();
      await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
      await pill('paused').waitFor();
    } finally {
      await other.kill();
    }
  }));
});
