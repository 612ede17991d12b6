/** The ways through the app: where one comes from, what is told where, and what is never lost on the way. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { desk } from './fixture.mjs';
import { example, settled } from './harness.mjs';
import { until } from './screens-fixture.mjs';

const MODEL = JSON.stringify({ scenario: 'ways', nodes: { 'step-01-intake': [{ say: 'Hello.' }] } });

/** Drops a file on the page, and says whether the browser would have gone to it. */
const drop = (tab, name) =>
  tab.evaluate((file) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['x'], file));
    const fire = (kind) => document.querySelector('main').dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
    return [fire('dragover'), fire('drop')].includes(true);
  }, name);

describe('ways through the app', () => {
  let set, tab, shop, run;
  before(async () => {
    set = await desk({ model: MODEL });
    ({ tab } = set);
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
    await set.project('one/twin');
    await set.project('two/twin');
    shop = await set.project('shop');
    run = await set.run(shop.id, 'hello-branch');
    await until('the run rests', async () => (await set.api('GET', `/api/runs/${run}`)).status === 'waiting-user');
  });
  after(() => set?.close());

  const palette = async (words) => {
    await tab.keyboard.press('Control+k');
    await tab.getByRole('dialog').getByRole('combobox').fill(words);
    return tab.getByRole('dialog').getByRole('option');
  };
  const close = async () => {
    await tab.keyboard.press('Escape');
    await tab.getByRole('dialog').waitFor({ state: 'hidden' });
  };

  it('projects are there by their last use, and say which wait', async () => {
    await tab.goto(set.server.origin);
    const recents = tab.locator('.recents > li');
    await until('the list is there', async () => (await recents.count()) === 3);
    assert.match(await recents.first().innerText(), /shop[^]*Waiting for you[^]*now/i);
    assert.doesNotMatch(await recents.nth(1).innerText(), /Waiting/);
  });

  it('a folder that is refused is told of where it was typed', async () => {
    await tab.getByRole('button', { name: 'Open a folder' }).first().click();
    const dialog = tab.getByRole('dialog');
    const path = dialog.getByLabel('Folder', { exact: true });
    await until('the folder is listed', async () => (await path.inputValue()) !== '');
    await path.fill('relative/x');
    await dialog.getByRole('button', { name: 'Choose this folder' }).click();
    await dialog.getByRole('alert').getByText('the path must begin at the root of the disk').waitFor();
    assert.equal(await path.inputValue(), 'relative/x');
    assert.equal(await tab.locator('.toast').count(), 0);
    await tab.keyboard.press('Escape');
  });

  it('a model whose address is none stays in the dialog, with the reason at the field', async () => {
    await tab.goto(`${set.server.origin}/settings/models`);
    await tab.getByRole('button', { name: 'Add a model' }).click();
    const dialog = tab.getByRole('dialog');
    await dialog.locator('#m-id').fill('m');
    await dialog.locator('#m-url').fill('not a url');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText(/This is not an address/).waitFor();
    assert.equal(await dialog.locator('#m-url').inputValue(), 'not a url');
    // What only the server knows is told there, too.
    await dialog.locator('#m-url').fill('http://user:secret@127.0.0.1:9/v1');
    await tab.route('**/api/models/*', (route) => route.fulfill({ status: 400, contentType: 'application/json', body: '{"code":"invalid","message":"No such thing.","hint":"Nothing was changed."}' }));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('No such thing.').waitFor();
    await tab.unroute('**/api/models/*');
    assert.equal(await tab.locator('.toast').count(), 0);
    await tab.keyboard.press('Escape');
  });

  it('an input keeps what was meant, and a value without a name is not dropped', async () => {
    await tab.goto(`${set.server.origin}/project/${shop.id}/launch?package=hello-branch`);
    const form = tab.locator('main form');
    await form.getByRole('button', { name: 'Add an input' }).click();
    await form.getByLabel('Value', { exact: true }).fill('1.10');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    assert.equal(await form.getByLabel('Name', { exact: true }).evaluate((field) => field.validity.valueMissing), true);
    assert.match(tab.url(), /launch/, 'nothing was started');
    await form.getByLabel('Name', { exact: true }).fill('version');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await tab.waitForURL(/\/run\//);
    const id = new URL(tab.url()).pathname.split('/').at(-1);
    await until('the variable is there', async () => JSON.stringify(await set.api('GET', `/api/runs/${id}/state`)).match(/version[^,]{0,9}1\.10/));
  });

  it('the graph of what can be run is zoomed by click and by key, and nothing begins by that', async () => {
    await tab.goto(`${set.server.origin}/project/${shop.id}/launch?package=hello-branch`);
    const tools = tab.locator('main form .tools');
    const begun = async () => (await set.api('GET', `/api/runs?project=${shop.id}`)).total;
    const before = await begun();
    const scale = () => tab.locator('main form svg > g').getAttribute('transform');
    for (const name of ['Zoom out', 'Zoom in', 'Zoom out']) {
      const last = await scale();
      await tools.getByRole('button', { name }).click();
      await until(`${name} does it`, async () => (await scale()) !== last);
    }
    const fit = tools.getByRole('button', { name: /Fit/ });
    for (const key of ['Enter', 'Space']) {
      await tools.getByRole('button', { name: 'Zoom in' }).click();
      const last = await scale();
      await fit.press(key);
      await until(`${key} on Fit fits`, async () => (await scale()) !== last);
    }
    assert.match(tab.url(), /launch/);
    assert.equal(await begun(), before);
  });

  it('shortcuts of the app are not those of the browser, also in front of a dialog', async () => {
    await set.show(shop.id, run);
    await tab.locator('header .pill.waiting').waitFor();
    await tab.evaluate(() => addEventListener('keydown', (event) => (window.prevented = event.defaultPrevented)));
    await palette('');
    for (const key of ['Control+p', 'Control+s']) {
      await tab.keyboard.press(key);
      assert.equal(await tab.evaluate(() => window.prevented), true, key);
    }
    await tab.getByRole('dialog').waitFor();
    await close();
  });

  it('the settings lead back to where one came from, and keep the project', async () => {
    await set.show(shop.id, run);
    await tab.locator('header .pill.waiting').waitFor();
    const rail = tab.getByRole('navigation', { name: 'Main' });
    await rail.getByRole('link', { name: 'Settings' }).click();
    await tab.getByRole('heading', { name: 'Models', exact: true }).waitFor();
    await rail.getByRole('link', { name: 'Runs' }).waitFor();
    await tab.getByRole('navigation', { name: 'Where you are' }).getByRole('link', { name: 'shop' }).waitFor();
    await tab.getByRole('link', { name: 'Tool policy' }).click();
    await tab.getByRole('link', { name: 'Back' }).click();
    await tab.waitForURL(new RegExp(run));
    await tab.locator('header .pill.waiting').waitFor();
  });

  it('the palette offers what can be done here, and nothing else', async () => {
    await set.show(shop.id, run);
    await tab.locator('header .pill.waiting').waitFor();
    assert.equal(await (await palette('Save the file')).filter({ hasText: 'Save the file' }).count(), 0);
    await close();
    assert.equal(await (await palette('Stop')).filter({ hasText: /^Stop/ }).count(), 0);
    await close();
    const twins = (await palette('twin')).filter({ hasText: '/twin' });
    await until('both are there', async () => (await twins.count()) === 2);
    assert.match((await twins.allInnerTexts()).join(), /one\/twin[^]*two\/twin|two\/twin[^]*one\/twin/);
    await close();
    await (await palette('hello-branch')).filter({ hasText: 'Run a workflow' }).first().click();
    await tab.waitForURL(/launch/);
    await tab.getByRole('heading', { name: 'Run a workflow' }).waitFor();
    await (await palette('Tool policy')).first().click();
    await tab.waitForURL(/settings\/policy/);
  });

  it('a file that is dropped anywhere does not take the place of the app; a package is imported', async () => {
    await set.show(shop.id, run);
    await tab.locator('header .pill.waiting').waitFor();
    assert.equal(await drop(tab, 'notes.txt'), false);
    assert.match(tab.url(), new RegExp(run));
    assert.equal(await drop(tab, 'thing.bmad'), false);
    await tab.waitForURL(/import/);
    await tab.getByText(/not a zip|cannot be|archive/i).first().waitFor();
    // The page that takes them takes one that falls beside its box.
    await drop(tab, 'other.bmad');
    await until('it is looked at', async () => /other\.bmad/.test(await tab.locator('main').innerText()));
  });

  it('a package that was imported from Start leaves one there', async () => {
    await tab.goto(set.server.origin);
    await tab.getByRole('link', { name: 'Import a package' }).click();
    await tab.getByLabel('File or folder on this computer').fill(example('create-story-micro'));
    await tab.getByRole('button', { name: 'Check' }).click();
    await tab.getByRole('button', { name: 'Import', exact: true }).click();
    await tab.getByRole('heading', { name: 'Start', exact: true }).waitFor();
  });

  it('messages lie over nothing that is typed or sent', async () => {
    await set.show(shop.id, run);
    await tab.locator('header .pill.waiting').waitFor();
    await tab.route('**/say', (route) => route.fulfill({ status: 500, contentType: 'application/json', body: '{"code":"disk","message":"The disk is full."}' }));
    await tab.getByRole('textbox', { name: 'Message' }).fill('hello');
    await tab.getByRole('textbox', { name: 'Message' }).press('Enter');
    await tab.locator('.toast').waitFor();
    for (const width of [1440, 1024, 390]) {
      await tab.setViewportSize({ width, height: 800 });
      await settled(tab);
      const [message, composer] = await Promise.all(['.toast', '.composer'].map((one) => tab.locator(one).first().boundingBox()));
      const isApart = message.y + message.height < composer.y || message.x > composer.x + composer.width;
      assert.ok(isApart, `at ${width} px`);
    }
    await tab.unroute('**/say');
    await tab.getByRole('button', { name: 'Dismiss' }).click();
  });

  it('Start is in the bar of a narrow page, and a list that is not known yet is not empty', async () => {
    await tab.setViewportSize({ width: 390, height: 800 });
    await tab.goto(`${set.server.origin}/project/${shop.id}/runs`);
    await tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Start' }).click();
    await tab.getByRole('heading', { name: 'Start', exact: true }).waitFor();
    await tab.setViewportSize({ width: 1440, height: 900 });
    let open;
    const held = new Promise((done) => (open = done));
    await tab.route('**/api/runs?*', async (route) => {
      await held;
      await route.continue();
    });
    await tab.getByRole('link', { name: /shop/ }).first().click();
    await tab.getByRole('heading', { name: 'shop', exact: true }).waitFor();
    await tab.getByRole('link', { name: 'Runs' }).click();
    await tab.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    assert.doesNotMatch(await tab.locator('body').innerText(), /no runs yet|Nothing here yet/);
    open();
    await tab.locator('main .run').first().waitFor();
    await tab.unroute('**/api/runs?*');
  });

  it('had no errors', () => {
    assert.deepEqual(set.errors.filter((error) => !/Failed to load resource/.test(error)), []);
  });
});

describe('a first run', () => {
  let set, tab;
  before(async () => {
    set = await desk();
    ({ tab } = set);
  });
  after(() => set?.close());

  it('says what to answer until it was, and the way to a model stays on Start', async () => {
    await tab.getByRole('button', { name: 'Run the sample' }).click();
    const path = tab.getByRole('dialog').getByLabel('Folder', { exact: true });
    await until('the folder is listed', async () => (await path.inputValue()) !== '');
    await path.fill(`${set.folder}/sample`);
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    const hint = tab.getByRole('status').filter({ hasText: 'When it asks, answer: ' });
    await hint.waitFor();
    await tab.locator('header .pill.waiting').waitFor();
    await tab.reload();
    await hint.waitFor();
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill((await hint.innerText()).split(': ')[1].trim());
    await field.press('Enter');
    await tab.locator('header .pill.done').waitFor();
    await hint.waitFor({ state: 'hidden' });
    await tab.getByRole('link', { name: 'CrewAgent' }).click();
    await tab.getByRole('heading', { name: 'Your first run, in three steps' }).waitFor();
    assert.deepEqual(set.errors.filter((error) => !/Failed to load resource/.test(error)), []);
  });
});
