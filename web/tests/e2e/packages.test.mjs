/** Packages: importing, findings, a broken or huge file, replacing and removing one, and writing a new one. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { alterExample, withFixture } from './fixture.mjs';
import { eventually, example, repository, until } from './harness.mjs';

/** Returns the folder of a package with an error. */
function brokenPackage() {
  const folder = join(repository, 'tests/packages/bad');
  const [first] = readdirSync(folder).filter((name) => name.startsWith('BM4') && existsSync(join(folder, name, 'package')));
  return join(folder, first, 'package');
}

const importField = (tab) => tab.getByLabel('File or folder on this computer');
const check = async (tab, path) => {
  await importField(tab).fill(path);
  await tab.getByRole('button', { name: 'Check' }).click();
};
const listPackages = async (api) => (await api('GET', '/api/packages')).packages;

/** Drops a file on a part of the page. */
const drop = (zone, name, bytes) =>
  zone.evaluate(
    (node, [title, data]) => {
      const carried = new DataTransfer();
      carried.items.add(new File([new Uint8Array(data)], title));
      for (const kind of ['dragover', 'drop']) node.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
    },
    [name, bytes],
  );

describe('a package that cannot be imported', () => {
  it('is explained code by code, and nothing is written', withFixture({}, async ({ tab, api, go }) => {
    const before = await listPackages(api);
    await go('import');
    await check(tab, brokenPackage());
    await tab.getByText(/The package cannot be imported/).waitFor();
    assert.equal(await tab.getByRole('button', { name: 'Import', exact: true }).count(), 0);
    await tab.getByRole('button', { name: /explain/ }).first().click();
    await tab.getByRole('dialog').waitFor();
    await tab.keyboard.press('Escape');
    await tab.getByRole('dialog').waitFor({ state: 'hidden' });
    assert.deepEqual(await listPackages(api), before);
  }));

  it('is described by file, place, sentence and fix, and nothing is written', withFixture({}, async ({ tab, api, go, folder }) => {
    const path = await alterExample(folder, 'broken', 'hello-branch', { 'agents.json': (json) => void (json.agents[1].persona.mood = 'bad') });
    const before = await listPackages(api);
    await go('import');
    await check(tab, path);
    const finding = tab.locator('.finding').first();
    const text = (await finding.textContent()) ?? '';
    for (const part of [/Error/, /agents\.json:\d+:\d+/, /\/agents\/1\/persona\/mood/, /BM\d{3}/, /mood/]) assert.match(text, part);
    assert.ok(((await finding.locator('p.soft').textContent()) ?? '').length > 10, 'it says what to do');
    assert.equal(await tab.getByRole('button', { name: 'Import', exact: true }).count(), 0);
    assert.deepEqual(await listPackages(api), before);
  }));

  for (const [name, bytes] of [['torn.bmad', [0x50, 0x4b, 3, 4, 1, 2, 3]], ['empty.bmad', []], ['note.txt', [104, 105]]]) {
    it(`${name}, dropped on the first page, is described, and nothing is kept`, withFixture({}, async ({ tab, api, go }) => {
      const before = await listPackages(api);
      await go();
      await drop(tab.locator('main .scroll'), name, bytes);
      await tab.getByText(/cannot be imported/).first().waitFor();
      await tab.getByRole('heading', { name }).waitFor();
      const finding = tab.locator('.finding').first();
      assert.match((await finding.textContent()) ?? '', /BM1\d\d/);
      assert.ok(((await finding.locator('p').first().textContent()) ?? '').length > 15);
      assert.deepEqual(await listPackages(api), before);
    }));
  }

  it('is too large for the browser: the page says so, and asks nothing of the server', withFixture({}, async ({ tab, go }) => {
    await go('import');
    const sent = [];
    tab.on('request', (one) => one.method() === 'POST' && sent.push(one.url()));
    await tab.locator('.drop').evaluate((zone) => {
      const data = new DataTransfer();
      const piece = new Uint8Array(1 << 20);
      data.items.add(new File(Array.from({ length: 70 }, () => piece), 'huge.bmad'));
      zone.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    const fault = tab.getByRole('alert');
    await fault.getByText(/huge\.bmad is 70 MiB; the browser can send at most 64 MiB/).waitFor();
    await fault.getByText(/Give its path/).waitFor();
    assert.deepEqual(sent, []);
  }));
});

describe('a package that is imported', () => {
  it('from Start is run in a project with one more click, and comes first there', withFixture({}, async ({ tab, go, project }) => {
    await project('shop');
    await go();
    await tab.getByRole('link', { name: 'Import a package' }).click();
    await check(tab, example('create-story-micro'));
    await tab.getByRole('button', { name: 'Import', exact: true }).click();
    await tab.getByRole('heading', { name: 'create-story-micro@0.1.0 was imported.' }).waitFor();
    await tab.getByRole('main').getByRole('button', { name: 'shop' }).click();
    await tab.getByRole('heading', { name: 'Run a workflow' }).waitFor();
    assert.equal(await tab.getByLabel('Workflow', { exact: true }).locator('option:checked').textContent(), 'create-story');
    await tab.getByRole('button', { name: 'Cancel' }).click();
    await until('the import comes first', async () => (await tab.locator('main h3').first().textContent())?.startsWith('create-story-micro'));
  }));

  it('is offered in a project beside all others, and found by words', withFixture({ packages: ['hello-branch', 'create-story-micro'] }, async ({ tab, go, project }) => {
    const shop = await project('shop');
    await go('project', shop.id);
    const main = tab.getByRole('main');
    for (const name of [/create-story/, /hello-branch/]) await main.getByRole('link', { name }).first().waitFor();
    const panel = tab.getByRole('complementary', { name: 'Conversations' });
    for (const name of ['hello-branch', 'create-story-micro']) await panel.getByRole('heading', { name }).waitFor();
    await tab.keyboard.press('Control+k');
    await tab.getByRole('combobox').fill('run hello');
    await tab.getByRole('option', { name: /hello-branch/ }).first().click();
    await tab.waitForURL(/launch\?package=hello-branch/);
  }));

  it('anew is the new one', withFixture({}, async ({ tab, go, folder, project }) => {
    const shop = await project('shop');
    await go('project', shop.id, 'packages?package=hello-branch%400.1.0');
    await tab.getByText('A small package with one decision.').waitFor();
    const path = await alterExample(folder, 'again', 'hello-branch', { 'bmad.json': (json) => void (json.description = 'Made anew.') });
    await tab.getByRole('button', { name: 'Import a package' }).click();
    await check(tab, path);
    await tab.getByRole('button', { name: 'Import', exact: true }).click();
    await tab.waitForURL(/launch/);
    await tab.getByRole('link', { name: 'Packages' }).click();
    await tab.getByText('Made anew.').waitFor();
  }));
});

describe('a package that is removed', () => {
  it('of two with the same name is the one that was meant', withFixture({}, async ({ tab, api, go, folder, importPackage }) => {
    await importPackage(await alterExample(folder, 'again', 'hello-branch', { 'bmad.json': (json) => void (json.description = 'Made anew.') }));
    const [first] = (await listPackages(api)).filter((one) => one.name === 'hello-branch');
    await go('settings/packages');
    const lines = tab.getByRole('listitem').filter({ hasText: 'hello-branch@0.1.0' });
    await lines.nth(1).waitFor();
    await lines.first().getByRole('button', { name: 'Remove' }).click();
    await tab.getByRole('dialog', { name: 'Remove the package' }).getByRole('button', { name: 'Remove' }).click();
    await eventually(async () => assert.equal(await lines.count(), 1));
    assert.equal((await listPackages(api)).some((one) => one.sha256 === first.sha256), false);
  }));

  it('is not chosen any more, and one that is not there is named', withFixture({ packages: ['hello-branch', 'create-story-micro'] }, async ({ tab, go, project }) => {
    const shop = await project('shop');
    await go('project', shop.id, 'packages?package=hello-branch%400.1.0');
    await tab.getByText('A small package with one decision.').waitFor();
    await tab.getByRole('button', { name: 'Remove' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await tab.getByRole('navigation', { name: 'Packages' }).locator('[aria-current]').filter({ hasText: 'create-story-micro' }).waitFor();
    await go('project', shop.id, 'packages?package=hello-branch%400.1.0');
    await tab.getByRole('alert').getByText('The package hello-branch@0.1.0 is not in the store').waitFor();
  }));
});

describe('a new package', () => {
  it('is written, and packed into a file', withFixture({ packages: [] }, async ({ tab, go, folder }) => {
    await go('settings/packages');
    await tab.getByRole('button', { name: 'New package' }).click();
    const made = join(folder, 'my-package');
    await tab.getByRole('textbox', { name: 'Folder to make for it' }).fill(made);
    await tab.getByRole('radio', { name: 'With a decision' }).check();
    await tab.getByRole('button', { name: 'Create package' }).click();
    await tab.getByText(`The package is in ${made}.`).waitFor();
    assert.ok(existsSync(join(made, 'bmad.json')));
    await tab.getByRole('button', { name: 'Pack a folder' }).click();
    const path = tab.getByLabel('Folder', { exact: true });
    await until('the folder is listed', async () => (await path.inputValue()) !== '');
    await path.fill(made);
    await path.press('Enter');
    await tab.getByRole('dialog').getByText('steps').first().waitFor();
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    await tab.getByText(/^Packed into .*my-package-0\.1\.0\.bmad/).waitFor();
  }));
});
