/**
 * The golden path from an empty store to an artifact, by mouse and by keyboard. Which test shows what the product cannot do without:
 *
 * | # | promise | shown by |
 * |---|---|---|
 * | 1 | by keyboard alone; a first run leads to the model, the package, the run | "the golden path by keyboard alone"; `runs` "a first run leads" |
 * |   | a sample runs without a key | "workflow first" |
 * |   | broken projects can be located or removed | `run-page` "a project whose folder moved" |
 * | 2 | a path or a dropped file; file, pointer, sentence, fix; nothing is written | `packages` "a package that cannot be imported" |
 * | 3 | graph, inputs, persona, policy; at most three clicks | `run-page` "from a project to a run it takes two clicks" |
 * | 4 | number, trigger, letters, candidates; no model is asked | `agents` |
 * | 5 | scrolling, reload in mid-stream, Stop | `runs` "a reply that streams"; frames and milliseconds in `npm run bench` |
 * | 6 | 34 px, groups, refusals with rule and what is allowed, raw JSON | `run-page` "the calls of a run" |
 * |   | a change expands to its lines | `approvals` "a rule that asks" |
 * | 7 | every kind; numbers and Enter; words always; outlives the server; read-only after | `runs` "the questions of a run"; `run-page` "a question outlives the server" |
 * | 8 | the change before the effect; refuse with a reason; drop the rule; four ways out; the count in the title | `approvals` |
 * | 9 | shape, words, list; what may come next is dashed | `run-page` "a node has its state"; `runs` "the graph says where" |
 * | 10 | an artifact is there at once; it can be read | `run-page` "a question outlives the server"; "workflow first" |
 * | 11 | after kill -9: where, why, Resume; filters; how long, how much | `run-page` "after kill -9", "the list of runs" |
 * | 12 | the layer that fails; keys go in only; the policy holds at once and says why | `settings` |
 */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, goldenModel, makeProject, until } from './harness.mjs';

/** Reads what the page says is to be answered. */
const readHint = async (tab) => ((await tab.getByText(/When it asks, answer:/).textContent()) ?? '').replace(/^.*answer:/, '').trim();

/** Waits until a dialog for folders has listed one. */
const untilListed = (path) => until('the folder is listed', async () => (await path.inputValue()) !== '');

describe('the golden path, from an empty store', () => {
  it('workflow first: the guide, the sample without a key, the question, the artifact', withFixture({ packages: [] }, async ({ tab, go, pill, send }) => {
    await go();
    await tab.getByRole('heading', { name: 'Your first run, in three steps' }).waitFor();
    await tab.getByRole('button', { name: 'Start the sample' }).click();
    await pill('waiting').waitFor();
    // It asks for words, so the field for them has the focus.
    await eventually(async () => assert.equal(await tab.evaluate(() => document.activeElement?.tagName), 'TEXTAREA'));
    await tab.getByRole('status').getByRole('button', { name: await readHint(tab) }).click();
    await pill('done').waitFor();
    const end = tab.getByRole('region', { name: 'The workflow is complete.' });
    await end.getByText(/turns · .* tokens/).waitFor();
    // The file that the last words name is a link.
    await tab.locator('article.said a', { hasText: 'artifacts/stories/1-2-user-authentication.md' }).last().waitFor();
    await end.getByRole('button', { name: 'artifacts/stories/1-2-user-authentication.md' }).click();
    await eventually(async () => assert.ok(((await tab.locator('.file .page.reading').textContent()) ?? '').length > 40));
  }));

  it('agent first: the card, the menu, the item, the question, done', withFixture({ packages: ['create-story-micro'], model: goldenModel('001-create-story-micro') }, async ({ tab, folder, go, pill, send }) => {
    const story = await makeProject(folder, 'story', '001-create-story-micro');
    await go();
    await tab.getByRole('button', { name: 'Open a folder' }).first().click();
    const path = tab.getByRole('dialog').getByLabel('Folder', { exact: true });
    await untilListed(path);
    await path.fill(story);
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    await tab.getByRole('main').getByRole('button', { name: /Bob/ }).click();
    await tab.getByRole('list', { name: 'What Bob offers' }).getByRole('button').first().click();
    await tab.getByText(/Which story shall I prepare/).first().waitFor();
    // The text comes before the question itself, and what is sent before that waits.
    await pill('waiting').waitFor();
    await send('1-2-user-authentication');
    await pill('done').waitFor();
    assert.ok(existsSync(join(story, 'artifacts/stories/1-2-user-authentication.md')));
    await tab.locator('section.artifacts').getByRole('button', { name: /stories\/1-2-user-authentication/ }).click();
    await tab.locator('.file .page.reading').getByRole('heading').first().waitFor();
  }));

  it('the sample says what to answer until it was answered, and the way to a model stays on Start', withFixture({ packages: [] }, async ({ tab, go, pill, send }) => {
    await go();
    await tab.getByRole('button', { name: 'Start the sample' }).click();
    const hint = tab.getByRole('status').filter({ hasText: 'When it asks, answer: ' });
    await hint.waitFor();
    await pill('waiting').waitFor();
    await tab.reload();
    await hint.waitFor();
    await pill('waiting').waitFor();
    await send(await readHint(tab));
    await pill('done').waitFor();
    await hint.waitFor({ state: 'hidden' });
    await tab.getByRole('link', { name: 'CrewAgent', exact: true }).click();
    await tab.getByRole('heading', { name: 'Your first run, in three steps' }).waitFor();
  }));
});

/** Reads what has the focus, as it is called, and whether the ring around it can be seen. */
const readFocus = (tab) =>
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

/** Makes a test that uses the keyboard alone, and always knows where the focus is. */
const withKeyboard = (options, body) =>
  withFixture(options, async (fixture) => {
    const { tab } = fixture;
    const assertFocus = (key) =>
      eventually(async () => {
        const now = await readFocus(tab);
        assert.ok(!now.lost, `after ${key} nothing has the focus`);
        // The heading of a screen is no control, and has no ring.
        assert.ok(now.ring || now.tag === 'H1', `after ${key} the focus on ${now.tag} ${now.name} cannot be seen`);
        return now;
      });
    const press = async (key) => {
      await tab.keyboard.press(key);
      return assertFocus(key);
    };
    /** Presses Tab until something of this name has the focus. */
    const tabTo = async (name) => {
      const seen = [];
      for (let times = 0; times < 60; times += 1) {
        const now = await press('Tab');
        if (name.test(now.name)) return;
        seen.push(now.name.slice(0, 30));
      }
      assert.fail(`${name} is not reached: ${seen.join(' | ')}`);
    };
    await body({ ...fixture, press, tabTo, assertFocus });
  });

describe('the golden path by keyboard alone', () => {
  it('from the first page to the finished run and its artifact', withKeyboard({ packages: [] }, async ({ tab, go, pill, press, tabTo, assertFocus }) => {
    await go();
    await tab.getByRole('heading', { name: 'Your first run, in three steps' }).waitFor();
    await tabTo(/^Start the sample/);
    await tab.keyboard.press('Enter');
    await pill('waiting').waitFor();
    const answer = await readHint(tab);
    // It asks for words, so the field for them has the focus.
    await eventually(async () => assert.equal((await readFocus(tab)).name, 'Message'));
    await tab.keyboard.type(answer);
    await press('Enter');
    await pill('done').waitFor();
    await assertFocus('the end of the run');
    await tabTo(/\.md/);
    await press('Enter');
    await tab.locator('.file .page.reading').waitFor();
  }));

  it('by shortcuts: the list of runs, a run, its regions, the palette', withKeyboard({ model: { nodes: { 'step-01-intake': [{ say: 'Hello. What now?' }] } } }, async ({ tab, log, field, pill, project, startRun, showRun, press, tabTo, assertFocus }) => {
    const shop = await project('shop');
    await showRun(shop.id, await startRun(shop.id));
    await pill('waiting').waitFor();
    await field.focus();
    await tab.keyboard.press('Escape');
    await tab.evaluate(() => document.activeElement?.blur());
    await tab.keyboard.press('g');
    await tab.keyboard.press('r');
    await tab.getByRole('heading', { name: 'Runs' }).waitFor();
    await assertFocus('g r');
    const name = (await tab.locator('main .run .name').first().textContent()) ?? '';
    await tabTo(new RegExp(`^${name}$`));
    await press('Enter');
    await log.waitFor();
    for (let at = 0; at < 5; at += 1) await press('F6');
    await press('Control+k');
    await tab.getByRole('combobox').waitFor();
    await press('Escape');
  }));
});
