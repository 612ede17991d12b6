/**
 * Makes tests that have a fixture of their own. Tests of a file share the browser process and nothing else, so each passes alone
 * and in any order.
 */

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { launchBrowser } from './harness.mjs';
import { openFixture } from './open-fixture.mjs';
import { startProvider } from './provider.mjs';

export { alterExample, VIEW } from './open-fixture.mjs';

/** What a page may write to its console: requests that were refused or cut off. Scripts that fail and faults of the server are errors. */
const NETWORK = /ERR_|status of 4\d\d/;

let shared;
after(async () => (await shared)?.close());

/** Returns the browser of this file; one that crashed under a test is replaced for the next. */
async function shareBrowser() {
  if (!(await shared)?.isConnected()) shared = launchBrowser();
  return shared;
}

/** Says where a test was when it failed. */
async function describePage({ tab, errors }, t) {
  const text = await tab.locator('body').innerText().catch((error) => String(error));
  t.diagnostic(`at ${tab.url()}: ${text.replace(/\s+/g, ' ').slice(0, 1500)}`);
  if (errors.length > 0) t.diagnostic(`errors of the page: ${errors.join(' | ')}`);
}

/**
 * Makes a test of a body that gets a fixture of its own. The test fails if the page has an error that `allowedErrors` does not match.
 * With `browserArgs` the browser is its own, too.
 */
export function withFixture({ allowedErrors = NETWORK, browserArgs, ...options }, body) {
  return async (t) => {
    const own = browserArgs && (await launchBrowser(...browserArgs));
    let fixture;
    try {
      // Motion costs time that other tests need, and none of them is about it.
      fixture = await openFixture(own ?? (await shareBrowser()), { ...options, context: { reducedMotion: 'reduce', ...options.context } });
      await body(fixture, t);
      assert.deepEqual(fixture.errors.filter((error) => !allowedErrors.test(error)), [], 'errors of the page');
    } catch (error) {
      if (fixture) await describePage(fixture, t);
      throw error;
    } finally {
      await fixture?.close();
      await own?.close();
    }
  };
}

/** Makes a test with a fixture whose runs ask a provider that the test speaks for. */
export const withProvider = (body) => async (t) => {
  const provider = await startProvider();
  try {
    await withFixture({ config: provider.config }, (fixture) => body({ ...fixture, provider }, t))(t);
  } finally {
    provider.close();
  }
};
