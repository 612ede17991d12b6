/** Calls that need approval: the change before it is made, the four answers, and where it is shown that a run waits for one. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, ownModel, until } from './harness.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const INTAKE = 'artifacts/intake.md';
const write = (name) => ({ 'fs.write': { path: `@project/artifacts/${name}.md`, content: '# It\n' } });

/** Makes a test of a run that waits for approval of a file, in view. */
const withApproval = (body) =>
  withFixture({ model: ownModel('approval.yaml'), policy: 'ask = ["fs.write"]', allowedErrors: /^$/ }, async (fixture) => {
    const shop = await fixture.project('shop', {}, '002-branch-greenfield');
    const run = await fixture.startRun(shop.id);
    await fixture.showRun(shop.id, run);
    await fixture.tab.getByRole('button', { name: 'Allow once' }).waitFor();
    await body({ ...fixture, shop, run, intake: join(shop.path, INTAKE) });
  });

const focusedText = (tab) => tab.evaluate(() => document.activeElement?.textContent ?? '');

describe('a rule that asks', () => {
  it('shows the change before it is made, and consent is not where the focus is', withApproval(async ({ tab, log, field, pill, intake }) => {
    await tab.getByRole('group', { name: 'Changed lines' }).getByText('A sign-up page').waitFor();
    assert.equal(existsSync(intake), false);
    assert.doesNotMatch(await focusedText(tab), /^Allow/);
    await pill('approval').waitFor();
    await tab.keyboard.press('Escape');
    // The key consents only from within the card.
    await field.press('Control+Enter');
    const refuse = tab.getByRole('button', { name: 'Refuse…' });
    await refuse.focus();
    assert.equal(existsSync(intake), false);
    await refuse.press('Control+Enter');
    await log.getByText('It is written.').waitFor();
    assert.equal(existsSync(intake), true);
  }));

  it('is marked in lists as one that needs approval', withApproval(async ({ tab, go, shop }) => {
    await tab.getByRole('complementary', { name: 'Conversations' }).getByRole('img', { name: 'Needs approval' }).first().waitFor();
    await go('project', shop.id, 'runs');
    await tab.locator('main .pill.approval').first().waitFor();
  }));

  it('tells the model why it was refused', withApproval(async ({ tab, log, intake }) => {
    await tab.getByRole('button', { name: 'Refuse…' }).click();
    await tab.getByLabel('Why not?').fill('not that file');
    await tab.getByRole('button', { name: 'Refuse', exact: true }).click();
    await log.getByText('Then I leave it.').waitFor();
    assert.equal(existsSync(intake), false);
  }));

  it('is gone from the settings when it is dropped', withApproval(async ({ tab, api, log }) => {
    await tab.getByRole('button', { name: 'Always: drop this rule' }).click();
    await log.getByText('It is written.').waitFor();
    const { settings } = await api('GET', '/api/settings');
    assert.deepEqual(settings.find((one) => one.key === 'policy.ask').value ?? [], []);
  }));
});

describe('the policy in the settings', () => {
  it('takes a rule that denies', withFixture({ allowedErrors: /^$/ }, async ({ tab, api, go }) => {
    await go('settings/policy');
    await tab.getByRole('radio', { name: 'Write files: Deny' }).click();
    await until('the rule is there', async () => (await api('GET', '/api/settings')).settings.find((one) => one.key === 'policy.deny').value?.includes('fs.write'));
  }));
});

const ASKS_TWICE = {
  nodes: {
    'step-01-intake': [
      { calls: [write('intake')] },
      { calls: [write('second')] },
      { say: 'Both are written.', fault: { hang: true } },
    ],
  },
};

describe('several approvals', () => {
  it('are counted in the title, have four ways out, and take none by themselves', withFixture({ model: ASKS_TWICE, policy: 'ask = ["fs.write(@project/artifacts)"]' }, async (fixture) => {
    const { tab, api, log } = fixture;
    const shop = await fixture.project('shop', { 'README.md': 'x' });
    const runs = [await fixture.startRun(shop.id), await fixture.startRun(shop.id)];
    const question = async (run) => (await api('GET', `/api/runs/${run}`)).question;
    for (const run of runs) await until('it waits for approval', async () => (await question(run))?.kind === 'approval');
    await fixture.showRun(shop.id, runs[0]);
    await until('two wait', async () => (await tab.title()).startsWith('(2) Needs approval'));
    for (const name of ['Allow once', 'Allow for this run', 'Always: drop this rule', 'Refuse…']) await tab.getByRole('button', { name }).waitFor();
    assert.doesNotMatch(await focusedText(tab), /^(Allow|Always)/);
    await tab.keyboard.press('Enter');
    await tab.keyboard.press('Escape');
    assert.ok(!existsSync(join(shop.path, INTAKE)), 'nothing happened yet');
    assert.ok(await question(runs[0]), 'no key consents by accident');
    // The whole run: the second file is not asked about.
    await tab.getByRole('button', { name: 'Allow for this run' }).click();
    await log.getByText('Both are written.').waitFor();
    assert.ok(existsSync(join(shop.path, 'artifacts/second.md')));
    assert.equal((await fixture.events('runs', runs[0])).filter((event) => event.type === 'tool.finished').length, 2);
    await until('one waits', async () => (await tab.title()).startsWith('(1)'));
  }));

  it('a double click allows one of two calls', withFixture({ model: { nodes: { 'step-01-intake': [{ calls: [write('one'), write('two')] }, { say: 'Both were looked at. What else?' }] } }, policy: 'ask = ["fs.write"]' }, async (fixture) => {
    const { tab, log } = fixture;
    const shop = await fixture.project('shop');
    await fixture.showRun(shop.id, await fixture.startRun(shop.id));
    await tab.getByRole('button', { name: 'Allow once' }).dblclick();
    await until('the first is written', () => existsSync(join(shop.path, 'artifacts/one.md')));
    await log.getByText('artifacts/two.md').first().waitFor();
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    assert.equal(existsSync(join(shop.path, 'artifacts/two.md')), false);
    assert.equal(await tab.getByText('this question waits for no answer any more').count(), 0);
    // Two cards of the same kind are no two places of the same name.
    await tab.evaluate(axe);
    await eventually(async () => {
      const found = await tab.evaluate(() => globalThis.axe.run({ runOnly: ['landmark-unique'] }));
      assert.deepEqual(found.violations.flatMap((one) => one.nodes.map((node) => node.html)), []);
    });
  }));
});
