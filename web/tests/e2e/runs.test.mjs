import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, browser, example, page, project, repository, scratch, serve, useModel } from './harness.mjs';
import { scene, until } from './screens-fixture.mjs';
import { screens } from './screens.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** A package with an error. */
function broken() {
  const folder = join(repository, 'tests/packages/bad');
  const [first] = readdirSync(folder).filter((name) => name.startsWith('BM4') && existsSync(join(folder, name, 'package')));
  return join(folder, first, 'package');
}

const slow = new URL('./scenarios/every-question.yaml', import.meta.url).pathname;

describe('every screen', () => {
  let set;
  before(async () => (set = await scene()));
  after(() => set?.close());

  it('has nothing that axe objects to, light, dark and with high contrast', async () => {
    const { tab } = set;
    const found = [];
    await set.dress({ theme: 'light', language: 'en' });
    for (const screen of screens(set.ids)) {
      await set.visit(screen);
      // The policy of the page lets no script in, so axe comes through the debugger.
      await tab.evaluate(axe);
      for (const theme of ['light', 'dark', 'contrast']) {
        await tab.evaluate((name) => (document.documentElement.dataset.theme = name), theme);
        // Themes differ in colours alone.
        const runOnly = theme === 'light' ? undefined : ['color-contrast'];
        const { violations } = await tab.evaluate((only) => globalThis.axe.run({ resultTypes: ['violations'], ...(only && { runOnly: only }) }), runOnly);
        for (const one of violations) found.push(`${screen.name}, ${theme}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(' | ')}`);
      }
    }
    assert.deepEqual(found, []);
  });

  it('keeps to the policy of the page and has no errors', () => {
    assert.deepEqual([...new Set(set.errors)].filter((error) => !error.includes('404')), []);
  });
});

describe('a work', () => {
  let place, server, chrome, context, tab, errors, shop, api;
  const said = (words) => tab.getByRole('log').getByText(words);

  before(async () => {
    place = await scratch();
    await useModel(place.home, `scripted:${slow}`);
    server = await serve(place.home);
    chrome = await browser();
    context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' });
    ({ tab, errors } = await page(context, server));
    shop = await project(place.folder, 'acme-shop', '002-branch-greenfield');
    api = (method, path, body) => ask(tab, method, path, body);
  });
  after(async () => {
    await chrome?.close();
    await server?.kill();
    await place?.remove();
  });

  it('a first run leads from the package to the question, by keyboard alone', async () => {
    await tab.getByRole('heading', { name: 'Your first run, in three steps' }).waitFor();
    await tab.getByRole('link', { name: 'Import a package' }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByLabel('File or folder on this computer').fill(example('hello-branch'));
    await tab.keyboard.press('Enter');
    await tab.getByText('The package is valid.').waitFor();
    await tab.getByRole('button', { name: 'Import', exact: true }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { name: 'Start', exact: true }).waitFor();
    await tab.getByRole('button', { name: 'Open a folder' }).first().focus();
    await tab.keyboard.press('Enter');
    await tab.getByLabel('Folder', { exact: true }).fill(shop);
    await tab.getByRole('button', { name: 'Choose this folder' }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('link', { name: /hello-branch/ }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('button', { name: 'Run', exact: true }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('radiogroup', { name: /Which kind of project/ }).waitFor();
  });

  it('a question is answered with a number and Enter, and cannot be changed afterwards', async () => {
    await tab.getByRole('radio', { name: /A new one/ }).focus();
    await tab.keyboard.press('2');
    assert.equal(await tab.getByRole('radio', { name: /One that exists/ }).getAttribute('aria-checked'), 'true');
    await tab.keyboard.press('1');
    await tab.keyboard.press('Enter');
    await said('What matters most? Choose one or more.').waitFor();
    assert.equal(await tab.getByRole('radio', { name: /A new one/ }).count(), 0);
    await said('Answered: A new one').waitFor();
  });

  it('Enter while an input method composes a word does not send it', async () => {
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill('ni hao');
    const runs = await api('GET', '/api/runs');
    const before = (await api('GET', `/api/runs/${runs.runs[0].id}/events?after=0`)).events.length;
    await field.evaluate((node) => {
      node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }));
      node.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }));
    });
    assert.equal(await field.inputValue(), 'ni hao');
    assert.equal((await api('GET', `/api/runs/${runs.runs[0].id}/events?after=0`)).events.length, before);
    await field.fill('');
  });

  it('several options, a yes or no, a form and words answer the other questions', async () => {
    await tab.getByRole('checkbox', { name: /Speed/ }).click();
    await tab.getByRole('checkbox', { name: /Quality/ }).click();
    await tab.getByRole('button', { name: /^Answer/ }).click();
    await tab.getByRole('radio', { name: /Yes/ }).waitFor();
    await tab.getByRole('radio', { name: /Yes/ }).dblclick();
    await tab.getByLabel('Name of the group').fill('R');
    await tab.getByRole('button', { name: 'Answer', exact: true }).click();
    await tab.getByText('This is too short or too long.').waitFor();
    await tab.getByText('This is needed.').waitFor();
    await tab.getByLabel('Name of the group').fill('Repair');
    await tab.getByLabel('Visitors a month').fill('20');
    await tab.getByRole('button', { name: 'Answer', exact: true }).click();
    await said('In one sentence: what should it do?').waitFor();
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill('A sign-up page for the repair cafe');
    await field.press('Enter');
    await said('Now I think about which way to go.').waitFor();
    await said('State update refused').first().waitFor();
    await tab.getByRole('button', { name: /intake\.md/ }).first().waitFor();
  });

  it('a page that is loaded anew in the middle of a reply loses nothing', async () => {
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill('And then?');
    await field.press('Enter');
    const last = tab.locator('article').last();
    await until('words come', async () => ((await last.textContent()) ?? '').includes('One more sentence'));
    await tab.reload();
    await until('the words are there again', async () => ((await last.textContent()) ?? '').includes('One more sentence about the plan, so that this takes a while. One'));
    const text = (await last.textContent()) ?? '';
    assert.ok(!text.includes('while. while.'), 'no piece comes twice');
  });

  it('scrolling up lets go of the end, and what is read does not move', async () => {
    const log = tab.getByRole('log');
    const box = await log.boundingBox();
    await tab.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await tab.mouse.wheel(0, -400);
    await tab.locator('.frame > .pill').waitFor();
    // The wheel takes a few frames, and more on a busy computer.
    await until('the wheel has done its work', () => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight > 300));
    const moved = await log.evaluate(async (node) => {
      const top = node.getBoundingClientRect().top;
      const anchor = [...node.querySelectorAll('.item')].find((one) => one.getBoundingClientRect().top > top + 10) ?? node.querySelector('.item');
      const start = anchor.getBoundingClientRect().top;
      let most = 0;
      for (let frame = 0; frame < 60; frame += 1) {
        await new Promise((done) => requestAnimationFrame(done));
        most = Math.max(most, Math.abs(anchor.getBoundingClientRect().top - start));
      }
      return most;
    });
    assert.ok(moved <= 2, `it moved by ${moved} px`);
    await tab.locator('.frame > .pill').click();
    await until('it is at the end', () => log.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight < 48));
  });

  it('what is sent meanwhile waits, and Stop is heard at once', async () => {
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill('later');
    await field.press('Enter');
    await tab.getByRole('list', { name: 'Waiting to be sent' }).waitFor();
    await tab.getByRole('button', { name: 'Remove' }).click();
    const answered = tab.waitForResponse((answer) => answer.url().endsWith('/stop'));
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
    await answered;
    await said('Stopped.').waitFor();
    const took = await tab.evaluate(() => performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/stop')).at(-1)?.duration);
    assert.ok(took < 200, `it took ${took} ms`);
  });

  it('the graph says where the run is, also as a list', async () => {
    await tab.getByRole('button', { name: 'Show as a list' }).click();
    const current = tab.locator('ol.nodes [aria-current=step]');
    assert.match((await current.textContent()) ?? '', /Decide the project type/);
    await tab.getByRole('button', { name: 'Show as a list' }).click();
  });

  it('a replay shows what was, and does nothing', async () => {
    await tab.getByRole('button', { name: 'Look back in time' }).click();
    await tab.getByText(/not live/).waitFor();
    await tab.getByRole('slider', { name: 'Event' }).fill('3');
    await until('later rows are gone', async () => (await said('Stopped.').count()) === 0);
    await tab.getByRole('button', { name: 'Back to live' }).click();
    await said('Stopped.').waitFor();
  });

  it('a file that both sides changed is kept twice until somebody decides', async () => {
    await tab.locator('section.artifacts button').first().click();
    await tab.getByRole('button', { name: 'Source' }).click();
    const editor = tab.locator('.host .cm-content');
    await editor.click();
    await tab.keyboard.type('Mine. ');
    const file = join(shop, 'artifacts/intake.md');
    await writeFile(file, '# Theirs\n');
    await tab.keyboard.press('Control+s');
    await tab.getByRole('alert').getByText(/was changed on the disk/).waitFor();
    await tab.getByRole('button', { name: 'Take theirs' }).click();
    await until('theirs is shown', async () => ((await editor.textContent()) ?? '').includes('Theirs'));
    await tab.getByRole('button', { name: 'Close tab' }).click();
  });

  it('a server that was killed is come back to, and the run goes on', async () => {
    const address = new URL(tab.url()).pathname;
    await server.kill('SIGKILL');
    await tab.getByText('Offline').or(tab.getByText('Reconnecting')).first().waitFor();
    server = await serve(place.home);
    await tab.goto(server.enter);
    await tab.goto(server.origin + address);
    await said('Now I think about').first().waitFor();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await until('it is at work', async () => (await tab.locator('header .pill.running').count()) > 0);
    await tab.getByRole('button', { name: 'Stop', exact: true }).last().click();
  });

  it('the language changes without loading the page anew', async () => {
    await tab.evaluate(() => (globalThis.mark = 1));
    await tab.keyboard.press('Control+k');
    await tab.getByRole('combobox').fill('简体');
    await tab.keyboard.press('Enter');
    await tab.getByRole('tab', { name: '对话' }).waitFor();
    assert.equal(await tab.evaluate(() => globalThis.mark), 1);
    assert.equal(await tab.evaluate(() => document.documentElement.lang), 'zh-CN');
    await tab.keyboard.press('Control+k');
    await tab.getByRole('combobox').fill('English');
    await tab.keyboard.press('Enter');
  });

  it('had no errors', () => {
    const quiet = /404|409|ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|401/;
    assert.deepEqual([...new Set(errors)].filter((error) => !quiet.test(error)), []);
  });
});

describe('a rule that asks', () => {
  let place, server, chrome, tab, errors;

  before(async () => {
    place = await scratch();
    const script = new URL('./scenarios/approval.yaml', import.meta.url).pathname;
    await useModel(place.home, `scripted:${script}`, 'ask = ["fs.write"]');
    server = await serve(place.home);
    chrome = await browser();
    ({ tab, errors } = await page(await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' }), server));
    await ask(tab, 'POST', '/api/packages/import', { path: example('hello-branch') });
  });
  after(async () => {
    await chrome?.close();
    await server?.kill();
    await place?.remove();
  });

  /** A run that waits for consent. */
  async function waiting(name) {
    const path = await project(place.folder, name, '002-branch-greenfield');
    const { id } = await ask(tab, 'POST', '/api/projects', { path });
    const { runId } = await ask(tab, 'POST', '/api/runs', { project: id, package: 'hello-branch' });
    await tab.goto(`${server.origin}/project/${id}/run/${runId}`);
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    return path;
  }

  it('shows the change before it is made, and consent is not where the focus is', async () => {
    const path = await waiting('one');
    assert.match((await tab.getByRole('group', { name: 'Changed lines' }).textContent()) ?? '', /A sign-up page/);
    assert.equal(existsSync(join(path, 'artifacts/intake.md')), false);
    assert.doesNotMatch(await tab.evaluate(() => document.activeElement?.textContent ?? ''), /^Allow/);
    await tab.locator('header .pill.approval').waitFor();
    await tab.keyboard.press('Escape');
    // The key consents only from within the card.
    await tab.getByRole('textbox', { name: 'Message' }).focus();
    await tab.keyboard.press('Control+Enter');
    await tab.getByRole('button', { name: 'Refuse…' }).focus();
    assert.equal(existsSync(join(path, 'artifacts/intake.md')), false);
    await tab.keyboard.press('Control+Enter');
    await tab.getByRole('log').getByText('It is written.').waitFor();
    assert.equal(existsSync(join(path, 'artifacts/intake.md')), true);
  });

  it('is marked in lists as one that asks for leave', async () => {
    await waiting('marked');
    const works = tab.getByRole('complementary', { name: 'Works' });
    await works.getByRole('img', { name: 'Needs approval' }).first().waitFor();
    await tab.goto(`${server.origin}/project/${new URL(tab.url()).pathname.split('/')[2]}/runs`);
    await tab.locator('main .pill.approval').first().waitFor();
  });

  it('tells the model why it was refused', async () => {
    const path = await waiting('two');
    await tab.getByRole('button', { name: 'Refuse…' }).click();
    await tab.getByLabel('Why not?').fill('not that file');
    await tab.getByRole('button', { name: 'Refuse', exact: true }).click();
    await tab.getByRole('log').getByText('Then I leave it.').waitFor();
    assert.equal(existsSync(join(path, 'artifacts/intake.md')), false);
  });

  it('is gone from the settings when it is dropped', async () => {
    await waiting('three');
    await tab.getByRole('button', { name: 'Always: drop this rule' }).click();
    await tab.getByRole('log').getByText('It is written.').waitFor();
    const { settings } = await ask(tab, 'GET', '/api/settings');
    assert.deepEqual(settings.find((one) => one.key === 'policy.ask').value ?? [], []);
    await tab.goto(`${server.origin}/settings/policy`);
    await tab.getByRole('radio', { name: 'Write files: Deny' }).click();
    await until('the rule is there', async () => {
      const now = await ask(tab, 'GET', '/api/settings');
      return now.settings.find((one) => one.key === 'policy.deny').value?.includes('fs.write');
    });
    assert.deepEqual(errors, []);
  });
});

describe('an agent', () => {
  let set;
  before(async () => (set = await scene()));
  after(() => set?.close());

  it('offers its menu without asking a model, and a number starts its workflow', async () => {
    const { tab, ids } = set;
    await tab.goto(`${set.server.origin}/project/${ids.story}/work/${ids.talk}`);
    await tab.getByRole('list', { name: 'What Bob offers' }).waitFor();
    assert.equal((await set.api('GET', `/api/conversations/${ids.talk}/events?after=0`)).events.some((event) => event.type === 'turn.started'), false);
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill('1');
    await field.press('Enter');
    await tab.getByRole('log').getByText(/Which story shall I prepare/).waitFor();
    await tab.getByRole('application').waitFor();
  });


  it('is left and come back to: the run waits, and goes on from its card', async () => {
    const { tab, ids } = set;
    await tab.getByRole('radio', { name: 'Agent' }).click();
    await tab.getByRole('radio', { name: 'Agent', checked: true }).waitFor();
    await tab.getByRole('log').getByRole('button', { name: 'Continue' }).last().click();
    await tab.getByRole('radio', { name: 'Workflow', checked: true }).waitFor();
    const { activeRun, runs } = await set.api('GET', `/api/conversations/${ids.talk}`);
    assert.equal(activeRun, runs[0]);
  });

  it('a chat becomes a workflow, with its history', async () => {
    const { tab, ids } = set;
    await tab.goto(`${set.server.origin}/project/${ids.shop}/work/${ids.chat}`);
    await tab.getByRole('log').getByText('What is in this project?').waitFor();
    await tab.getByRole('radio', { name: 'Workflow' }).click();
    const dialog = tab.getByRole('dialog', { name: 'Run a workflow' });
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await tab.getByRole('log').getByText('What is it about?').waitFor();
    await tab.getByRole('log').getByText('What is in this project?').waitFor();
    await tab.getByRole('application').waitFor();
  });

  it('a run that a limit held up is resumed', async () => {
    const { tab, ids } = set;
    await tab.goto(`${set.server.origin}/project/${ids.shop}/run/${ids.limited}`);
    await tab.getByRole('log').getByText('since your last input').first().waitFor();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await tab.getByRole('log').getByText('What is it about?').waitFor();
  });

  it('a broken package is told about, file by file, and nothing is written', async () => {
    const { tab } = set;
    const before = (await set.api('GET', '/api/packages')).packages.length;
    await tab.goto(`${set.server.origin}/import`);
    await tab.getByLabel('File or folder on this computer').fill(broken());
    await tab.getByRole('button', { name: 'Check' }).click();
    await tab.getByText(/The package cannot be imported/).waitFor();
    assert.equal(await tab.getByRole('button', { name: 'Import', exact: true }).count(), 0);
    await tab.getByRole('button', { name: /explain/ }).first().click();
    await tab.getByRole('dialog').waitFor();
    await tab.keyboard.press('Escape');
    assert.equal((await set.api('GET', '/api/packages')).packages.length, before);
  });

  it('a narrow page lays what is beside it over it, and Escape puts it away', async () => {
    const { tab, ids } = set;
    await tab.setViewportSize({ width: 390, height: 844 });
    await tab.goto(`${set.server.origin}/project/${ids.story}/run/${ids.done}`);
    await tab.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Run details' }).click();
    await tab.getByRole('tab', { name: 'Log' }).click();
    await tab.getByRole('region', { name: 'Events of the run' }).waitFor();
    await tab.keyboard.press('Escape');
    await tab.getByRole('tab', { name: 'Log' }).waitFor({ state: 'hidden' });
    const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `the page is ${wide} px wide`);
    await tab.setViewportSize({ width: 1440, height: 900 });
  });

  it('a sample runs without a key', async () => {
    const { tab } = set;
    const made = await set.api('POST', '/api/sample', { path: join(set.folder, 'sample') });
    const { runId } = await set.api('POST', '/api/runs', { project: made.project.id, package: made.package, model: made.model });
    await tab.goto(`${set.server.origin}/project/${made.project.id}/run/${runId}`);
    const field = tab.getByRole('textbox', { name: 'Message' });
    await tab.locator('header .pill.waiting').waitFor();
    await field.fill(made.answer);
    await field.press('Enter');
    await tab.locator('header .pill.done').waitFor();
  });
});
