/** What a run wrote: compared, reverted by the hunk and by the step; and runs that are forked from a step of another one. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, ownModel, until } from './harness.mjs';

const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`);
const without = (text, ...changes) => changes.reduce((all, [before, after]) => all.replace(before, after), text);

/** Makes a test of a run that changed a file in two steps and wrote another, in view. */
const withChanges = (body, options = {}) =>
  withFixture({ model: ownModel('changes.yaml'), ...options }, async (fixture) => {
    const { tab } = fixture;
    const shop = await fixture.project('acme-shop', { 'notes.md': lines.join('') });
    const run = await fixture.startRun(shop.id);
    await fixture.untilStatus(run, 'waiting-user');
    await fixture.showRun(shop.id, run);
    const inspector = tab.locator('section.inspector');
    /** Opens the list of changes. */
    const openChanges = async () => {
      await tab.getByRole('tab', { name: /Changes/ }).click();
      await inspector.getByRole('tabpanel').getByRole('button', { name: /intake\.md/ }).waitFor();
    };
    const notes = () => readFile(join(shop.path, 'notes.md'), 'utf8');
    // The server gives an idle run back after a while, and its journal says so.
    const events = async () => (await fixture.events('runs', run)).filter((event) => event.type !== 'run.finished');
    const undoHunk = tab.getByRole('button', { name: /^Undo these lines: Lines/ });
    await body({ ...fixture, shop, run, inspector, openChanges, notes, events, undoHunk, dialog: tab.getByRole('dialog'), intake: join(shop.path, 'artifacts/intake.md') });
  });

/** A run that writes a whole file again, with one line changed. */
const REWRITES = {
  nodes: {
    'step-01-intake': [
      { calls: [{ 'fs.read': { path: '@project/notes.md' } }] },
      { when: { answers: 'ok' }, say: 'I write it again.', calls: [{ 'fs.write': { path: '@project/notes.md', content: lines.join('').replace('line 7\n', 'line seven\nand more\n') } }] },
      { when: { answers: 'ok' }, say: 'Which kind shall it be?' },
    ],
  },
};

describe('a call that writes over a file', () => {
  it('shows the lines that differ from the content before, not the whole file', withFixture({ model: REWRITES }, async ({ tab, project, startRun, untilStatus, showRun }) => {
    const shop = await project('acme-shop', { 'notes.md': lines.join('') });
    const run = await startRun(shop.id);
    await untilStatus(run, 'waiting-user');
    await showRun(shop.id, run);
    await tab.locator('section.artifacts').getByRole('button', { name: /notes\.md.*Changed/ }).waitFor();
    const card = tab.locator('.tool', { hasText: 'notes.md' }).last();
    await card.getByText('+2').waitFor();
    await card.getByText('−1').waitFor();
    await card.getByRole('button').first().click();
    await eventually(async () => assert.deepEqual(await card.locator('.line.add .text, .line.del .text').allInnerTexts(), ['line 7', 'line seven', 'and more']));
  }));
});

describe('what a run changed', () => {
  it('can be read in the graph', withChanges(async ({ tab }) => {
    const title = tab.getByRole('application').locator('text.title').first();
    await title.waitFor();
    const pixels = () => title.evaluate((text) => Number.parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
    await eventually(async () => assert.ok((await pixels()) >= 10, `${await pixels()} px`));
  }));

  it('is shown as it was at the moment of a replay, without a way to undo it, until Escape', withChanges(async ({ tab, events, inspector, openChanges, pill }) => {
    const { seq } = (await events()).find((event) => event.type === 'tool.finished');
    await openChanges();
    await tab.getByRole('button', { name: 'Replay', exact: true }).click();
    const slider = tab.getByRole('slider', { name: 'Event' });
    await slider.fill(String(seq));
    const list = inspector.getByRole('tabpanel');
    await list.getByRole('button', { name: /intake\.md/ }).waitFor({ state: 'detached' });
    await list.getByRole('button', { name: /notes\.md/ }).click();
    await list.getByText('line two').waitFor();
    assert.equal(await list.getByText('line fifteen').count(), 0);
    assert.equal(await list.getByRole('button', { name: /Undo/ }).count(), 0);
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', new RegExp(`^${seq} of \\d+ · .+ · `));
    await pill('ready').getByText('Replay', { exact: true }).waitFor();
    await tab.getByRole('tab', { name: 'Prompt' }).click();
    await until('the turn is that of the moment', async () => (await list.getByRole('combobox', { name: 'Request' }).inputValue()) === '1');
    assert.equal(await list.getByRole('option').count(), 1);
    await slider.press('Escape');
    await slider.waitFor({ state: 'detached' });
    await until('the turn is the last one', async () => (await list.getByRole('option').count()) > 1);
  }));

  it('is compared with the version before, from the tab of the file', withChanges(async ({ tab, inspector, openChanges }) => {
    const compare = tab.getByRole('button', { name: 'Compare' });
    await openChanges();
    await inspector.getByRole('tabpanel').getByRole('button', { name: /notes\.md/ }).click();
    await inspector.getByRole('button', { name: 'Open', exact: true }).click();
    await until('it can be compared', () => compare.isEnabled());
    await compare.click();
    const gone = tab.locator('.host .cm-deletedChunk');
    await until('what the last change took away is shown', async () => (await gone.allTextContents()).join() === 'line 15');
    await tab.getByRole('combobox', { name: 'Which change' }).first().selectOption({ index: 0 });
    await until('what the first change took away is shown, too', async () => (await gone.count()) === 3);
    await tab.getByRole('button', { name: 'Preview' }).click();
    await tab.locator('.reading').getByText('line fifteen').waitFor();
    assert.equal(await compare.getAttribute('aria-pressed'), 'false');
  }));

  it('is not compared where there is no version before', withChanges(async ({ tab }) => {
    await tab.locator('section.artifacts').getByRole('button', { name: /intake\.md/ }).click();
    const compare = tab.getByRole('button', { name: 'Compare' });
    await eventually(async () => assert.match((await compare.getAttribute('title')) ?? '', /^Nothing to compare/));
    assert.equal(await compare.isDisabled(), true);
  }));

  it('is not removed without a question', withChanges(async ({ tab, inspector, openChanges, dialog, undoHunk, intake }) => {
    await openChanges();
    const list = inspector.getByRole('tabpanel');
    await list.getByRole('button', { name: /intake\.md/ }).click();
    await until('its only part is shown', async () => (await undoHunk.count()) === 1);
    await undoHunk.click();
    await dialog.getByRole('heading', { name: /^Remove .*intake\.md/ }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    assert.ok(existsSync(intake));
    await list.getByRole('button', { name: 'Undo all' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await until('the file is gone', () => !existsSync(intake));
  }));

  it('is reverted hunk by hunk, and the others stay', withChanges(async ({ tab, inspector, openChanges, undoHunk, notes }) => {
    await openChanges();
    await inspector.getByRole('tabpanel').getByRole('button', { name: /notes\.md/ }).click();
    await until('three hunks are there', async () => (await undoHunk.count()) === 3);
    await inspector.getByRole('button', { name: 'Open', exact: true }).click();
    await tab.locator('.reading').getByText('line two').waitFor();
    await Promise.all([tab.getByText('These lines of notes.md are as they were before.').waitFor(), undoHunk.first().click()]);
    // The tab of the file has it, too.
    await tab.locator('.reading').getByText('line 2 ').waitFor();
    assert.equal(await notes(), without(lines.join(''), ['line 15\n', 'line fifteen\n'], ['line 28\n', 'line twenty-eight\n']));
    await until('two hunks are left', async () => (await undoHunk.count()) === 2);
  }));

  it('is not touched when the page is out of date', withChanges(async ({ tab, shop, inspector, openChanges, undoHunk, notes }) => {
    await openChanges();
    await inspector.getByRole('tabpanel').getByRole('button', { name: /notes\.md/ }).click();
    await until('three hunks are there', async () => (await undoHunk.count()) === 3);
    const mine = `${await notes()}mine\n`;
    await writeFile(join(shop.path, 'notes.md'), mine);
    await undoHunk.first().click();
    await tab.getByText('notes.md has changed since you looked at it').waitFor();
    assert.equal(await notes(), mine);
    // It is shown anew, with the line that another program added.
    await tab.getByText('mine', { exact: true }).first().waitFor();
  }));

  it('of one step is reverted after a look, but for what another program changed', withChanges(async ({ tab, shop, openChanges, dialog, notes, intake }) => {
    await writeFile(join(shop.path, 'notes.md'), `${await notes()}mine\n`);
    await openChanges();
    await tab.getByRole('combobox', { name: 'Step' }).selectOption({ index: 0 });
    await tab.getByRole('button', { name: 'Undo step…' }).click();
    await dialog.getByText('left alone: changed by somebody else').waitFor();
    await dialog.getByText('will be removed: the run made it').waitFor();
    // The keyboard stays where the scope is chosen.
    await dialog.getByRole('radio', { name: 'Only this step' }).focus();
    for (const [key, name] of [['ArrowDown', 'This step and everything after it'], ['ArrowUp', 'Only this step']]) {
      await tab.keyboard.press(key);
      await dialog.getByText('will be removed: the run made it').waitFor();
      await eventually(async () => assert.equal(await tab.evaluate(() => document.activeElement?.closest('label')?.textContent.trim()), name));
    }
    await Promise.all([tab.getByText('1 file is as it was before.').waitFor(), dialog.getByRole('button', { name: 'Undo 1 file' }).click()]);
    assert.equal(existsSync(intake), false);
    assert.ok((await notes()).endsWith('mine\n'));
  }));
});

describe('a fork', () => {
  it('says what is copied, and goes on at once', withChanges(async ({ tab, shop, run, log, dialog, notes, events, untilStatus }) => {
    const before = await events();
    await log.getByRole('button', { name: 'Fork here' }).first().click();
    await dialog.getByRole('heading', { name: /^Fork at/ }).waitFor();
    await dialog.getByText('State documents, as they were then: 1').waitFor();
    await dialog.getByText('Files: the project stays as it is now').waitFor();
    await writeFile(join(shop.path, 'notes.md'), lines.join(''));
    await dialog.getByRole('button', { name: 'Retry from here' }).click();
    await tab.waitForURL((url) => !url.pathname.endsWith(run) && url.pathname.includes('/run/'));
    await tab.getByText(/^Forked from run/).waitFor();
    await untilStatus(tab.url().split('/').at(-1), 'waiting-user');
    assert.ok((await notes()).includes('line fifteen'));
    assert.deepEqual(await events(), before);
  }));

  it('from the graph waits, and leads back to where it came from', withChanges(async ({ tab, dialog, notes, status }) => {
    const first = tab.url();
    await tab.getByRole('button', { name: 'Show as a list' }).click();
    await tab.getByRole('list', { name: 'Steps of the workflow' }).getByRole('button').nth(1).click();
    await tab.getByRole('button', { name: 'Fork here' }).last().click();
    await dialog.getByRole('checkbox').check();
    await dialog.getByText('goes back to what it was').waitFor();
    await dialog.getByRole('button', { name: 'Fork and wait' }).click();
    await tab.waitForURL((url) => url.href !== first);
    // It shows what it was given: the way up to its node, and the file.
    await tab.locator('section.artifacts').getByText('intake.md').waitFor();
    await until('the way up to its node is shown', async () => (await tab.locator('.edge.taken').count()) === 1);
    assert.ok(!(await notes()).includes('line fifteen') && (await notes()).includes('line two'));
    assert.equal(await status(tab.url().split('/').at(-1)), 'paused');
    await tab.getByRole('link', { name: 'Open that run' }).click();
    await tab.waitForURL(first);
  }));
});

describe('how it looks', () => {
  it('keeps to colours that the system forces', withChanges(async ({ tab, go }) => {
    await tab.emulateMedia({ forcedColors: 'active' });
    const colours = (selector, property) =>
      tab.locator(selector).first().evaluate(
        (element, name) => {
          const probe = document.body.appendChild(document.createElement('i'));
          probe.style.forcedColorAdjust = 'none';
          const system = {};
          for (const one of ['Canvas', 'CanvasText', 'Highlight', 'GrayText']) {
            probe.style.color = one;
            system[getComputedStyle(probe).color] = one;
          }
          probe.remove();
          const own = getComputedStyle(element)[name];
          return system[own] ?? own;
        },
        property,
      );
    const hasColour = (selector, property, colour) => eventually(async () => assert.equal(await colours(selector, property), colour, `${selector} ${property}`));
    await tab.getByRole('application').locator('.node').first().waitFor();
    await hasColour('.node:not(.current) .outline', 'stroke', 'CanvasText');
    await hasColour('.node:not(.current) .outline', 'fill', 'Canvas');
    await hasColour('.node.current .outline', 'stroke', 'Highlight');
    await hasColour('text.title', 'fill', 'CanvasText');
    await go('settings/mcp');
    await hasColour('.btn.primary', 'backgroundColor', 'Highlight');
    await hasColour('input.switch', 'backgroundColor', 'CanvasText');
    await tab.locator('input.switch').first().check();
    await hasColour('input.switch', 'backgroundColor', 'Highlight');
  }));

  it('a row of the list that is not chosen has no edge in colours that the system forces', withChanges(async ({ tab, shop, startRun }) => {
    await startRun(shop.id);
    await tab.reload();
    await tab.emulateMedia({ forcedColors: 'active' });
    const row = tab.locator('li.line:not(.on)').first();
    await row.waitFor();
    const isPlain = () =>
      row.evaluate((element) => {
        const probe = document.body.appendChild(document.createElement('i'));
        Object.assign(probe.style, { forcedColorAdjust: 'none', color: 'Canvas' });
        const canvas = getComputedStyle(probe).color;
        probe.remove();
        return getComputedStyle(element).borderInlineStartColor === canvas;
      });
    await until('its edge has the colour of the page', isPlain);
  }));

  it('before it is run, a workflow is seen whole, and the wheel is the page\'s', withFixture({ model: ownModel('changes.yaml') }, async ({ tab, go, project }) => {
    const shop = await project('shop');
    await tab.setViewportSize({ width: 1000, height: 500 });
    await go('project', shop.id, 'packages');
    const graph = tab.getByRole('application');
    await graph.locator('[data-node]').first().waitFor();
    await until('all of it is in view', () =>
      graph.evaluate((frame) => {
        const { top, bottom, left, right } = frame.getBoundingClientRect();
        const nodes = [...frame.querySelectorAll('[data-node] .outline')].map((node) => node.getBoundingClientRect());
        return nodes.length === 5 && nodes.every((node) => node.top >= top && node.bottom <= bottom && node.left >= left && node.right <= right);
      }),
    );
    await graph.hover();
    const before = await graph.boundingBox();
    await tab.mouse.wheel(0, 120);
    await until('the page is scrolled', async () => (await graph.boundingBox()).y < before.y);
    assert.equal((await graph.boundingBox()).height, before.height);
  }));
});
