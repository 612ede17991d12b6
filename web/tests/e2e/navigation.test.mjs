/** The ways through the app: lists, settings and back, the palette, shortcuts, dropped files, narrow pages, and where a refusal is shown. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, until } from './harness.mjs';

const MODEL = { nodes: { 'step-01-intake': [{ say: 'Hello. What now?' }] } };

/** Drops a file on the page; returns true if the browser would have gone to it. */
const drop = (tab, name) =>
  tab.locator('main').evaluate((main, file) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(['x'], file));
    const fire = (kind) => main.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
    return [fire('dragover'), fire('drop')].includes(true);
  }, name);

/** Makes a test of a project in which a run waits. */
const withShop = (body, options = {}) =>
  withFixture({ model: MODEL, ...options }, async (fixture) => {
    const { tab } = fixture;
    const shop = await fixture.project('shop');
    const run = await fixture.startRun(shop.id);
    await fixture.untilStatus(run, 'waiting-user');
    const openRun = async () => {
      await fixture.showRun(shop.id, run);
      await fixture.pill('waiting').waitFor();
    };
    const openPalette = async (words) => {
      await tab.keyboard.press('Control+k');
      await tab.getByRole('dialog').getByRole('combobox').fill(words);
      return tab.getByRole('dialog').getByRole('option');
    };
    const closePalette = async () => {
      await tab.keyboard.press('Escape');
      await tab.getByRole('dialog').waitFor({ state: 'hidden' });
    };
    await body({ ...fixture, shop, run, openRun, openPalette, closePalette, rail: tab.getByRole('navigation', { name: 'Main' }) });
  });

describe('Start', () => {
  it('lists projects by their last use, and says which wait', withFixture({ model: MODEL }, async ({ tab, go, project, startRun, untilStatus }) => {
    await project('one/twin');
    await project('two/twin');
    const shop = await project('shop');
    await untilStatus(await startRun(shop.id), 'waiting-user');
    await go();
    const recents = tab.locator('.recents > li');
    await eventually(async () => {
      assert.equal(await recents.count(), 3);
      assert.match(await recents.first().innerText(), /shop[^]*Waiting for you[^]*now/i);
      assert.doesNotMatch(await recents.nth(1).innerText(), /Waiting/);
    });
  }));

  it('says in the dialog why a folder is refused', withShop(async ({ tab, go }) => {
    await go();
    await tab.getByRole('button', { name: 'Open a folder' }).first().click();
    const dialog = tab.getByRole('dialog');
    const path = dialog.getByLabel('Folder', { exact: true });
    await until('the folder is listed', async () => (await path.inputValue()) !== '');
    const listed = tab.waitForResponse((answer) => answer.url().includes('relative'));
    await path.fill('relative/x');
    await dialog.getByRole('button', { name: 'Choose this folder' }).click();
    const reason = dialog.getByRole('alert').getByText('the path must begin at the root of the disk');
    await reason.waitFor();
    // The list follows what is typed, and its answer may come last.
    await (await listed).finished();
    await tab.evaluate(() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen))));
    assert.equal(await reason.isVisible(), true);
    assert.equal(await path.inputValue(), 'relative/x');
    assert.equal(await tab.locator('.toast').count(), 0);
  }));

  it('is in the bar of a narrow page', withShop(async ({ tab, go, shop, rail }) => {
    await tab.setViewportSize({ width: 390, height: 800 });
    await go('project', shop.id, 'runs');
    await rail.getByRole('link', { name: 'Start' }).click();
    await tab.getByRole('heading', { name: 'Start', exact: true }).waitFor();
  }));
});

describe('a model', () => {
  it('whose address is none stays in the dialog, with the reason at the field', withShop(async ({ tab, go }) => {
    await go('settings/models');
    await tab.getByRole('button', { name: 'Add a model' }).click();
    const dialog = tab.getByRole('dialog');
    await dialog.locator('#m-id').fill('m');
    await dialog.getByText('Type the key, or say that none is needed.').waitFor();
    await dialog.locator('input[type=password]').fill('k');
    await dialog.locator('#m-url').fill('not a url');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText(/This is not an address/).waitFor();
    assert.equal(await dialog.locator('#m-url').inputValue(), 'not a url');
    // What only the server knows is shown there, too.
    await dialog.locator('#m-url').fill('http://user:secret@127.0.0.1:9/v1');
    await tab.route('**/api/models/*', (route) => route.fulfill({ status: 400, contentType: 'application/json', body: '{"code":"invalid","message":"No such thing.","hint":"Nothing was changed."}' }));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('No such thing.').waitFor();
    assert.equal(await tab.locator('.toast').count(), 0);
  }));
});

describe('the page that starts a workflow', () => {
  it('keeps an input as it was meant, and does not drop a value without a name', withShop(async ({ tab, api, go, shop }) => {
    await go('project', shop.id, 'launch?package=hello-branch');
    const form = tab.locator('main form');
    await form.getByRole('button', { name: 'Add an input' }).click();
    await form.getByLabel('Value', { exact: true }).fill('1.10');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    assert.equal(await form.getByLabel('Name', { exact: true }).evaluate((field) => field.validity.valueMissing), true);
    await form.getByLabel('Name', { exact: true }).fill('version');
    assert.match(tab.url(), /launch/, 'nothing was started');
    await form.getByRole('button', { name: 'Run', exact: true }).click();
    await tab.waitForURL(/\/run\//);
    const id = new URL(tab.url()).pathname.split('/').at(-1);
    await until('the variable is there', async () => JSON.stringify(await api('GET', `/api/runs/${id}/state`)).match(/version[^,]{0,9}1\.10/));
  }));

  it('has a graph that is zoomed by click and by key, and nothing is started by that', withShop(async ({ tab, api, go, shop }) => {
    await go('project', shop.id, 'launch?package=hello-branch');
    const tools = tab.locator('main form .tools');
    const countRuns = async () => (await api('GET', `/api/runs?project=${shop.id}`)).total;
    const before = await countRuns();
    const scale = () => tab.locator('main form svg > g').getAttribute('transform');
    for (const name of ['Zoom out', 'Zoom in', 'Zoom out']) {
      const last = await scale();
      await tools.getByRole('button', { name }).click();
      await until(`${name} does it`, async () => (await scale()) !== last);
    }
    const fit = tools.getByRole('button', { name: /Fit/ });
    for (const key of ['Enter', 'Space']) {
      const fitted = await scale();
      await tools.getByRole('button', { name: 'Zoom in' }).click();
      await until('it is larger', async () => (await scale()) !== fitted);
      const last = await scale();
      await fit.press(key);
      await until(`${key} on Fit fits`, async () => (await scale()) !== last);
    }
    assert.match(tab.url(), /launch/);
    assert.equal(await countRuns(), before);
  }));
});

describe('the palette', () => {
  it('shortcuts of the app are not those of the browser, also in front of a dialog', withShop(async ({ tab, openRun, openPalette }) => {
    await openRun();
    await tab.evaluate(() => addEventListener('keydown', (event) => (window.prevented = event.defaultPrevented)));
    await openPalette('');
    for (const key of ['Control+p', 'Control+s']) {
      await tab.keyboard.press(key);
      assert.equal(await tab.evaluate(() => window.prevented), true, key);
    }
    await tab.getByRole('dialog').waitFor();
  }));

  it('offers what can be done here, and nothing else', withShop(async ({ openRun, openPalette, closePalette, project }) => {
    await project('one/twin');
    await project('two/twin');
    await openRun();
    for (const [words, absent] of [['Save the file', /Save the file/], ['Stop', /^Stop/]]) {
      const options = await openPalette(words);
      assert.equal(await options.filter({ hasText: absent }).count(), 0);
      await closePalette();
    }
    const twins = (await openPalette('twin')).filter({ hasText: '/twin' });
    await eventually(async () => {
      const texts = (await twins.allInnerTexts()).join();
      assert.match(texts, /one\/twin/);
      assert.match(texts, /two\/twin/);
      assert.equal(await twins.count(), 2);
    });
  }));

  it('leads to a workflow, and to a section of the settings', withShop(async ({ tab, openRun, openPalette }) => {
    await openRun();
    await (await openPalette('hello-branch')).filter({ hasText: 'Run a workflow' }).first().click();
    await tab.waitForURL(/launch/);
    await tab.getByRole('heading', { name: 'Run a workflow' }).waitFor();
    await (await openPalette('Tool policy')).filter({ hasText: 'Tool policy' }).first().click();
    await tab.waitForURL(/settings\/policy/);
  }));
});

describe('the settings', () => {
  it('lead back to where the user came from, and keep the project', withShop(async ({ tab, run, openRun, rail, pill }) => {
    await openRun();
    await rail.getByRole('link', { name: 'Settings' }).click();
    await tab.getByRole('heading', { name: 'Models', exact: true }).waitFor();
    await rail.getByRole('link', { name: 'Runs' }).waitFor();
    await tab.getByRole('navigation', { name: 'Where you are' }).getByRole('link', { name: 'shop' }).waitFor();
    await tab.getByRole('link', { name: 'Tool policy' }).click();
    await tab.waitForURL(/policy/);
    await tab.getByRole('link', { name: 'Back' }).click();
    await tab.waitForURL(new RegExp(run));
    await pill('waiting').waitFor();
  }));
});

describe('a file that is dropped', () => {
  it('anywhere does not take the place of the app', withShop(async ({ tab, run, openRun, pill }) => {
    await openRun();
    assert.equal(await drop(tab, 'notes.txt'), false);
    assert.match(tab.url(), new RegExp(run));
    await pill('waiting').waitFor();
  }));

  it('is imported if it is a package, also beside the box that takes them', withShop(async ({ tab, openRun }) => {
    await openRun();
    assert.equal(await drop(tab, 'thing.bmad'), false);
    await tab.waitForURL(/import/);
    await tab.getByText(/not a zip|cannot be|archive/i).first().waitFor();
    await drop(tab, 'other.bmad');
    await until('it is looked at', async () => /other\.bmad/.test(await tab.locator('main').innerText()));
  }));
});

describe('a narrow page', () => {
  it('messages lie over nothing that is typed or sent, at any width', withShop(async ({ tab, openRun, send }) => {
    await openRun();
    await tab.route('**/say', (route) => route.fulfill({ status: 500, contentType: 'application/json', body: '{"code":"disk","message":"The disk is full."}' }));
    await send('hello');
    await tab.locator('.toast').waitFor();
    for (const width of [1440, 1024, 390]) {
      await tab.setViewportSize({ width, height: 800 });
      await until(`they are apart at ${width} px`, async () => {
        const [message, composer] = await Promise.all(['.toast', '.composer'].map((one) => tab.locator(one).first().boundingBox()));
        return message.y + message.height < composer.y || message.x > composer.x + composer.width;
      });
    }
  }, { allowedErrors: /status of 500/ }));

  it('lays what is beside it over it, and Escape puts it away', withShop(async ({ tab, openRun, rail }) => {
    await tab.setViewportSize({ width: 390, height: 844 });
    await openRun();
    await rail.getByRole('button', { name: 'Run details' }).click();
    await tab.getByRole('tab', { name: 'Log' }).click();
    await tab.getByRole('region', { name: 'Events of the run' }).waitFor();
    await tab.keyboard.press('Escape');
    await tab.getByRole('tab', { name: 'Log' }).waitFor({ state: 'hidden' });
    const width = await tab.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `the page is ${width} px wide`);
  }));
});

describe('a list', () => {
  it('that is not known yet is not shown as empty', withShop(async ({ tab, go }) => {
    let release;
    const held = new Promise((done) => (release = done));
    await tab.route('**/api/runs?*', async (route) => {
      await held;
      await route.continue();
    });
    await go();
    await tab.getByRole('link', { name: /shop/ }).first().click();
    await tab.getByRole('heading', { name: 'shop', exact: true }).waitFor();
    await tab.getByRole('link', { name: 'Runs' }).click();
    await tab.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    assert.doesNotMatch(await tab.locator('body').innerText(), /no runs yet|Nothing here yet/);
    release();
    await tab.locator('main .run').first().waitFor();
  }));
});
