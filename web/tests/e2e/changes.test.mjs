/** What a run wrote, taken back by the hunk and by the step; and runs that go on from a step of another one. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, browser, crewagent, example, page, project, scratch, serve, useModel } from './harness.mjs';
import { until } from './scene.mjs';

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

  it('is taken back hunk by hunk, and the others stay', async () => {
    await tab.getByRole('tab', { name: /Changes/ }).click();
    await tab.locator('section.inspector').getByRole('button', { name: /notes\.md/ }).click();
    const undo = tab.getByRole('button', { name: /^Undo: Lines/ });
    await until('three hunks are there', async () => (await undo.count()) === 3);
    await undo.first().click();
    await tab.getByText('These lines of notes.md are as they were before.').waitFor();
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
    await dialog().getByText('is removed; the run made it').waitFor();
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
    await dialog().getByText('becomes what it was').waitFor();
    await dialog().getByRole('button', { name: 'Fork and wait' }).click();
    await tab.waitForURL((url) => url.href !== first);
    assert.ok(!(await notes()).includes('line fifteen') && (await notes()).includes('line two'));
    assert.equal(await status(tab.url().split('/').at(-1)), 'paused');
    await tab.getByRole('link', { name: 'Open that run' }).click();
    await tab.waitForURL(first);
  });

  it('nothing of that is an error of the page', () => {
    assert.deepEqual(errors.filter((error) => !error.includes('409')), []);
  });
});
