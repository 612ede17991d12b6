/** Gates: drafts and options in the chat, keys, words, what was saved where, and the same in a replay and in Chinese. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { assertAccessible, eventually, goldenModel, goldenPackage } from './harness.mjs';

const GOLDEN = '018-gates';

/** Makes a test of a run that waits at its first gate, in view. */
const withGate = (body, options = {}) =>
  withFixture({ model: goldenModel(GOLDEN), packages: [], allowedErrors: /^$/, ...options }, async (fixture) => {
    const { package: own } = await fixture.importPackage(goldenPackage(GOLDEN));
    const ferry = await fixture.project('ferry', {}, GOLDEN);
    const run = await fixture.startRun(ferry.id, { package: own.reference });
    await fixture.showRun(ferry.id, run);
    const gate = fixture.tab.locator('.ask').last();
    await gate.locator('.option').first().waitFor();
    await body({ ...fixture, ferry, run, gate, brief: join(ferry.path, 'artifacts/brief.md') });
  });

const text = async (path) => (existsSync(path) ? await readFile(path, 'utf8') : '');

describe('a gate', () => {
  it('shows its draft and options, and nothing is saved before the answer', withGate(async ({ gate, brief, log }) => {
    await log.getByText('A ferry that runs on time.').first().waitFor();
    assert.deepEqual(await gate.locator('.option b').allTextContents(), ['Ask deeper', 'Second look', 'Continue']);
    assert.deepEqual(await gate.locator('.option kbd').allTextContents(), ['A', 'P', 'C']);
    assert.doesNotMatch(await text(brief), /ferry that runs/);
    const draft = gate.getByRole('button', { name: /^vision/ });
    // It is open already unless the reply above shows the same text.
    if ((await draft.getAttribute('aria-expanded')) === 'false') await draft.click();
    await gate.getByRole('region', { name: 'Draft vision' }).getByRole('heading', { name: 'Vision' }).waitFor();
    await gate.getByRole('button', { name: 'Open as a file' }).click();
    await log.page().getByRole('dialog').getByText('A ferry that runs on time.').waitFor();
    await log.page().keyboard.press('Escape');
  }));

  it('is answered by keys and words, and says what was saved where', withGate(async ({ tab, log, brief, send }) => {
    const open = tab.locator('.ask:not(.answered)');
    const asked = async (words) => open.getByText(words).first().waitFor();
    await tab.locator('main h1').first().evaluate(() => document.activeElement?.blur?.());
    await tab.keyboard.press('a');
    await log.getByText('You chose').first().waitFor();
    await asked('also in winter');
    await tab.keyboard.press('2');
    await asked('With who pays. Better?');
    await send('Name the town, please.');
    await log.getByText('Name the town, please.').first().waitFor();
    await asked('Norby');
    await open.getByRole('button', { name: /Continue/ }).click();
    await eventually(async () => assert.match(await text(brief), /Norby pays/));
    await log.getByRole('button', { name: 'artifacts/brief.md' }).first().click();
    await tab.getByRole('tab', { name: 'brief.md' }).waitFor();
  }));

  it('takes no key that is typed into a field', withGate(async ({ field, gate, brief }) => {
    await field.pressSequentially('ccc');
    assert.equal(await gate.locator('.option').count(), 3);
    assert.doesNotMatch(await text(brief), /ferry that runs/);
  }));

  for (const [language, words] of [['en', 'goes on'], ['zh', '继续']]) {
    for (const theme of ['light', 'dark']) {
      it(`can be read by everyone, ${theme}, ${language}`, withGate(async ({ tab, gate }) => {
        await tab.evaluate((prefs) => localStorage.setItem('crewagent.prefs', JSON.stringify(prefs)), { language, theme });
        for (const width of [390, 1440]) {
          await tab.setViewportSize({ width, height: 900 });
          await tab.reload();
          await gate.getByText(words).first().waitFor();
          await gate.getByRole('button', { name: /^vision/ }).click();
          await assertAccessible(tab);
          const wider = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(wider <= 0, `the page is ${wider} px too wide`);
        }
      }));
    }
  }
});
