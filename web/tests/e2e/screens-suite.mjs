/**
 * Every screen with axe-core. A screen has its own page; the store is made once and only read. Two files share the screens of
 * the light theme, because files run side by side; the other themes differ in colours alone, and are checked under `load/`.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';
import { openPage } from './harness.mjs';
import { openScreensFixture } from './screens-fixture.mjs';
import { screens } from './screens.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const NAMES = screens().map((screen) => screen.name);

/** Checks every other screen with all rules, beginning with the first or the second. */
export const checkScreens = (first) => check(`every screen, ${first === 0 ? 'one half' : 'the other half'}`, NAMES.filter((_, at) => at % 2 === first), ['light']);

/** Checks the colours of every screen in the other themes. */
export const checkThemes = () => check('every screen, dark and with high contrast', NAMES, ['dark', 'contrast'], ['color-contrast']);

const check = (title, names, themes, runOnly) => describe(title, () => {
  let fixture;
  before(async () => {
    fixture = await openScreensFixture();
    await fixture.setPreferences({ theme: 'light', language: 'en' });
    await fixture.tab.close();
  });
  after(() => fixture?.close());

  for (const name of names) {
    it(`${name}: axe objects to nothing, and the page has no errors`, async () => {
      const { tab, errors } = await openPage(fixture.context);
      try {
        await fixture.showScreen(screens(fixture.ids).find((screen) => screen.name === name), tab, 5);
        // The policy of the page lets no script in, so axe comes through the debugger.
        await tab.evaluate(axe);
        const found = [];
        for (const theme of themes) {
          await tab.evaluate((value) => (document.documentElement.dataset.theme = value), theme);
          const { violations } = await tab.evaluate((only) => globalThis.axe.run({ resultTypes: ['violations'], ...(only && { runOnly: only }) }), runOnly);
          for (const one of violations) found.push(`${theme}: ${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(' | ')}`);
        }
        assert.deepEqual(found, []);
        assert.deepEqual(errors.filter((error) => !error.includes('404')), []);
      } finally {
        await tab.close();
      }
    });
  }
});
