/** What a run wrote, taken back by the hunk and by the step; and runs that go on from a step of another one. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, browser, crewagent, example, page, project, scratch, serve, useModel } from './harness.mjs';
import { until } from './screens-fixture.mjs';

const script = new URL('./scenarios/changes.yaml', import.meta.url).pathname;
const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`);

describe('what a run changed', () => {
  let place, server, chrome, tab, errors, folder, shop, run, api;
  const notes = () => readFile(join(folder, 'notes.md'), 'utf8');
  const dialog = () => tab.getByRole('dialog');
  // The server gives a run back that rests for a while, and its journal says so.
  const told = async () => (await api('GET', `/api/runs/${run}/events?after=0`)).events.filter((event) => event.type !== 'run.finished');
  const status = async (id) => (await api('GET', `/api/runs/${id}`)).status;

  before(async () => {
    place = await scratch();
    await useModel(place.home, `scripted:${script}`);
    const done = await crewagent(place.home, 'package', 'import', example('hello-branch'));
    assert.equal(done.code, 0, done.err);
    folder = await project(place.folder, 'acme-shop');
    await writeFile(join(folder, 'notes.md'), lines.join(''));
    server = await serve(place.home);
    chrome = await browser();
    const context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' });
    ({ tab, errors } = await page(context, server));
    api = (method, path, body) => ask(tab, method, path, body);
    shop = (await api('POST', '/api/projects', { path: folder })).id;
    run = (await api('POST', '/api/runs', { project: shop, package: 'hello-branch' })).runId;
    await until('the run waits', async () => (await status(run)) === 'waiting-user');
    await tab.goto(`${server.origin}/project/${shop}/run/${run}`);
  });
  after(async () => {
    await chrome?.close();
    await server?.kill();
    await place?.remove();
  });

  it('can be read in the graph', async () => {
    const title = tab.getByRole('application').locator('text.title').first();
    await title.waitFor();
    const pixels = await title.evaluate((text) => Number.parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
    assert.ok(pixels >= 10, `${pixels} px`);
  });

  it('is shown as it was at the moment of a replay, without a way to undo it, until Escape', async () => {
    const { seq } = (await told()).find((event) => event.type === 'tool.finished');
    await tab.getByRole('tab', { name: /Changes/ }).click();
    const inspector = tab.locator('section.inspector');
    await inspector.getByRole('button', { name: /intake\.md/ }).first().waitFor();
    await tab.getByRole('button', { name: 'Look back in time' }).click();
    const slider = tab.getByRole('slider', { name: 'Event' });
    await slider.fill(String(seq));
    const list = inspector.getByRole('tabpanel');
    await until('the second file is not there yet', async () => (await list.getByRole('button', { name: /intake\.md/ }).count()) === 0);
    await list.getByRole('button', { name: /notes\.md/ }).click();
    await list.getByText('line two').waitFor();
    assert.equal(await list.getByText('line fifteen').count(), 0);
    assert.equal(await list.getByRole('button', { name: /Undo/ }).count(), 0);
    assert.match((await slider.getAttribute('aria-valuetext')) ?? '', new RegExp(`^${seq} of \\d+ · .+ · `));
    await tab.locator('header .pill.running').waitFor();
    await tab.getByRole('tab', { name: 'Prompt' }).click();
    await until('the turn is that of the moment', async () => (await list.getByRole('combobox', { name: 'Request' }).inputValue()) === '1');
    assert.equal(await list.getByRole('option').count(), 1);
    await slider.press('Escape');
    await slider.waitFor({ state: 'detached' });
    await until('the turn is the last one', async () => (await list.getByRole('option').count()) > 1);
    await tab.getByRole('tab', { name: 'Graph' }).click();
  });

  it('is compared with the version before, from the tab of the file', async () => {
    await tab.locator('section.artifacts').getByRole('button', { name: /intake\.md/ }).click();
    const compare = tab.getByRole('button', { name: 'Compare' });
    await compare.waitFor();
    assert.equal(await compare.isDisabled(), true);
    assert.match((await compare.getAttribute('title')) ?? '', /^Nothing to compare/);
    await tab.getByRole('button', { name: 'Close tab' }).click();
    await tab.getByRole('tab', { name: /Changes/ }).click();
    await tab.locator('section.inspector').getByRole('button', { name: /notes\.md/ }).click();
    await tab.locator('section.inspector').getByRole('button', { name: 'Open', exact: true }).click();
    await until('it can be compared', () => compare.isEnabled());
    await compare.click();
    const gone = tab.locator('.host .cm-deletedChunk');
    await until('what the last change took away is shown', async () => (await gone.allTextContents()).join() === 'line 15');
    await tab.getByRole('combobox', { name: 'Which change' }).first().selectOption({ index: 0 });
    await until('what the first change took away is shown, too', async () => (await gone.count()) === 3);
    await tab.getByRole('button', { name: 'Preview' }).click();
    await tab.locator('.reading').getByText('line fifteen').waitFor();
    assert.equal(await compare.getAttribute('aria-pressed'), 'false');
    await tab.getByRole('button', { name: 'Close tab' }).click();
  });

  it('is not removed without a question', async () => {
    const file = join(folder, 'artifacts/intake.md');
    const text = await readFile(file, 'utf8');
    await tab.getByRole('tab', { name: /Changes/ }).click();
    const list = tab.locator('section.inspector').getByRole('tabpanel');
    await list.getByRole('button', { name: /intake\.md/ }).click();
    const undo = list.getByRole('button', { name: /^Undo: Lines/ });
    await until('its only part is shown', async () => (await undo.count()) === 1);
    await undo.click();
    await dialog().getByRole('heading', { name: /^Remove .*intake\.md/ }).waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    assert.ok(existsSync(file));
    await list.getByRole('button', { name: 'Undo all' }).click();
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await until('the file is gone', () => !existsSync(file));
    await writeFile(file, text);
    await tab.reload();
  });

  it('is taken back hunk by hunk, and the others stay', async () => {
    await tab.getByRole('tab', { name: /Changes/ }).click();
    await tab.locator('section.inspector').getByRole('button', { name: /notes\.md/ }).click();
    const undo = tab.getByRole('button', { name: /^Undo: Lines/ });
    await until('three hunks are there', async () => (await undo.count()) === 3);
    await tab.locator('section.inspector').getByRole('button', { name: 'Open', exact: true }).click();
    await tab.locator('.reading').getByText('line two').waitFor();
    await undo.first().click();
    await tab.getByText('These lines of notes.md are as they were before.').waitFor();
    // The tab of the file has it, too.
    await tab.locator('.reading').getByText('line 2 ').waitFor();
    await tab.getByRole('button', { name: 'Close tab' }).click();
    assert.equal(await notes(), lines.join('').replace('line 15\n', 'line fifteen\n').replace('line 28\n', 'line twenty-eight\n'));
    await until('two hunks are left', async () => (await undo.count()) === 2);
  });

  it('is not touched when the page is out of date', async () => {
    const mine = `${await notes()}mine\n`;
    await writeFile(join(folder, 'notes.md'), mine);
    await tab.getByRole('button', { name: /^Undo: Lines/ }).first().click();
    await tab.getByText('`notes.md` has changed since you looked at it').waitFor();
    assert.equal(await notes(), mine);
    // It is shown anew, with what somebody else added.
    await until('the added line is shown', async () => (await tab.getByText('mine', { exact: true }).count()) > 0);
  });

  it('of one step is taken back after a look, but for what somebody else changed', async () => {
    await tab.getByRole('combobox', { name: 'Step' }).selectOption({ index: 0 });
    await tab.getByRole('button', { name: 'Undo step…' }).click();
    await dialog().getByText('left alone: changed by somebody else').waitFor();
    await dialog().getByText('will be removed: the run made it').waitFor();
    // The keyboard stays where the scope is chosen.
    const scope = dialog().getByRole('radio', { name: 'Only this step' });
    await scope.focus();
    for (const [key, name] of [['ArrowDown', 'This step and everything after it'], ['ArrowUp', 'Only this step']]) {
      await tab.keyboard.press(key);
      await dialog().getByText('will be removed: the run made it').waitFor();
      assert.equal(await tab.evaluate(() => document.activeElement?.closest('label')?.textContent.trim()), name);
    }
    await dialog().getByRole('button', { name: 'Undo 1 file' }).click();
    await tab.getByText('1 file is as it was before.').waitFor();
    assert.equal(existsSync(join(folder, 'artifacts/intake.md')), false);
    assert.ok((await notes()).endsWith('mine\n'));
  });

  it('a fork says what is copied, and goes on at once', async () => {
    const before = await told();
    await tab.getByRole('log').getByRole('button', { name: 'Fork here' }).first().click();
    await dialog().getByRole('heading', { name: /^Fork at/ }).waitFor();
    await dialog().getByText('State documents, as they were then: 1').waitFor();
    await dialog().getByText('Files: the project stays as it is now').waitFor();
    await writeFile(join(folder, 'notes.md'), lines.join(''));
    await dialog().getByRole('button', { name: 'Retry from here' }).click();
    await tab.waitForURL((url) => !url.pathname.endsWith(run) && url.pathname.includes('/run/'));
    await tab.getByText(/^Forked from run/).waitFor();
    const fork = tab.url().split('/').at(-1);
    await until('the fork waits', async () => (await status(fork)) === 'waiting-user');
    assert.ok((await notes()).includes('line fifteen'));
    assert.deepEqual(await told(), before);
  });

  it('a fork from the graph waits, and leads back to where it came from', async () => {
    const first = tab.url();
    await tab.getByRole('tab', { name: 'Graph' }).click();
    await tab.getByRole('button', { name: 'Show as a list' }).click();
    await tab.getByRole('list', { name: 'Steps of the workflow' }).getByRole('button').nth(1).click();
    await tab.getByRole('button', { name: 'Fork here' }).last().click();
    await dialog().getByRole('checkbox').check();
    await dialog().getByText('goes back to what it was').waitFor();
    await dialog().getByRole('button', { name: 'Fork and wait' }).click();
    await tab.waitForURL((url) => url.href !== first);
    // It shows what it was given: the way up to its node, and the file.
    await tab.locator('section.artifacts').getByText('intake.md').waitFor();
    await until('the way up to its node is shown', async () => (await tab.locator('.edge.taken').count()) === 1);
    assert.ok(!(await notes()).includes('line fifteen') && (await notes()).includes('line two'));
    assert.equal(await status(tab.url().split('/').at(-1)), 'paused');
    await tab.getByRole('link', { name: 'Open that run' }).click();
    await tab.waitForURL(first);
  });

  it('keeps to colours that the system forces', async () => {
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
    await tab.getByRole('application').locator('.node').first().waitFor();
    assert.equal(await colours('.node:not(.current) .outline', 'stroke'), 'CanvasText');
    assert.equal(await colours('.node:not(.current) .outline', 'fill'), 'Canvas');
    assert.equal(await colours('.node.current .outline', 'stroke'), 'Highlight');
    assert.equal(await colours('text.title', 'fill'), 'CanvasText');
    // A row of the list that is not chosen has no edge.
    assert.equal(await colours('li.line:not(.on)', 'borderInlineStartColor'), 'Canvas');
    await tab.goto(`${server.origin}/settings/mcp`);
    assert.equal(await colours('.btn.primary', 'backgroundColor'), 'Highlight');
    assert.equal(await colours('input.switch', 'backgroundColor'), 'CanvasText');
    await tab.locator('input.switch').first().check();
    await until('the switch is on', async () => (await colours('input.switch', 'backgroundColor')) === 'Highlight');
    await tab.emulateMedia({ forcedColors: 'none' });
  });

  it('before it is run, a workflow is seen whole, and the wheel is the page\'s', async () => {
    await tab.setViewportSize({ width: 1000, height: 500 });
    await tab.goto(`${server.origin}/project/${shop}/packages`);
    const graph = tab.getByRole('application');
    await graph.locator('[data-node]').first().waitFor();
    const isWhole = await graph.evaluate((frame) => {
      const { top, bottom, left, right } = frame.getBoundingClientRect();
      const nodes = [...frame.querySelectorAll('[data-node] .outline')].map((node) => node.getBoundingClientRect());
      return nodes.length === 5 && nodes.every((node) => node.top >= top && node.bottom <= bottom && node.left >= left && node.right <= right);
    });
    assert.ok(isWhole);
    const before = await graph.boundingBox();
    await graph.hover();
    const from = (await graph.boundingBox()).y;
    await tab.mouse.wheel(0, 120);
    await until('the page is scrolled', async () => (await graph.boundingBox()).y < from);
    assert.equal((await graph.boundingBox()).height, before.height);
    await tab.setViewportSize({ width: 1440, height: 900 });
  });

  it('nothing of that is an error of the page', () => {
    assert.deepEqual(errors.filter((error) => !error.includes('409')), []);
  });
});
