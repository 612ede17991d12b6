/** Every screen: its name, its address, and what brings it into the state that is looked at. */

import { eventually } from './harness.mjs';

/** Stands for a store that is not built yet, where only the names of the screens matter. */
const NO_IDS = { asked: {}, gates: {}, words: {}, tour: { works: {}, form: {}, choice: {}, done: {}, approval: {} } };

/** Returns the screens of a store with these ids. */
export function screens(ids = NO_IDS) {
  const press = (selector) => async (tab) => tab.click(selector);
  const inspector = (name) => async (tab) => {
    if ((tab.viewportSize()?.width ?? 0) < 1280) await tab.evaluate(() => document.querySelector('header button[aria-label="Run details"], header button[aria-label="运行详情"]')?.click());
    await tab.locator('section.inspector [role=tab]').nth(name).click();
  };
  const run = (project, id) => `/project/${project}/run/${id}`;
  const tour = (name) => run(ids.tour[name].project, ids.tour[name].run);
  const check = (path) => async (tab) => {
    await tab.fill('#import-path', path);
    await tab.keyboard.press('Enter');
    await tab.locator('.verdict').waitFor();
  };
  return [
    { name: 'start', at: '/' },
    { name: 'start-first', at: ids.first },
    { name: 'import', at: '/import' },
    { name: 'import-broken', at: '/import', then: check(ids.broken) },
    { name: 'import-known', at: '/import', then: check(ids.example) },
    { name: 'settings-models', at: '/settings/models' },
    { name: 'settings-model-new', at: '/settings/models', then: press('main .btn.primary') },
    { name: 'settings-model-test', at: '/settings/models', then: async (tab) => {
        await tab.locator('main .card', { hasText: 'at-home' }).getByRole('button').filter({ hasText: /Test|测试/ }).click();
        await tab.getByText(/127\.0\.0\.1:9/).nth(1).waitFor();
      } },
    { name: 'settings-runs', at: '/settings/runs' },
    { name: 'settings-policy', at: '/settings/policy' },
    { name: 'settings-policy-agent', at: '/settings/policy', then: async (tab) => {
        await tab.locator('#of-package').selectOption({ index: 1 });
        await tab.locator('.whom select').nth(1).waitFor();
      } },
    { name: 'settings-mcp', at: '/settings/mcp' },
    { name: 'settings-mcp-tools', at: '/settings/mcp', then: press('main summary') },
    { name: 'settings-mcp-new', at: '/settings/mcp', then: async (tab) => {
        await tab.locator('main .btn.primary').click();
        await tab.fill('#s-name', 'notes');
        await tab.fill('#s-command', 'npx');
        await tab.fill('#s-args', '-y\n@modelcontextprotocol/server-filesystem\n/srv/my notes');
        await tab.locator('dialog fieldset.field .btn').click();
        await tab.locator('dialog .pair input').nth(0).fill('API_KEY');
        await tab.locator('dialog .pair input').nth(1).fill('hunter2-hunter2');
      } },
    { name: 'settings-mcp-http', at: '/settings/mcp', then: press('main .list > li:last-child .head .btn:nth-of-type(2)') },
    { name: 'settings-mcp-import', at: '/settings/mcp', then: async (tab) => {
        await tab.locator('main .row-line > .btn').nth(1).click();
        await tab.fill('#i-text', '{"mcpServers": {"My Files": {"command": "npx", "args": ["-y", "files"], "env": {"TOKEN": "t0p"}}, "old": {"type": "sse", "url": "https://x"}}}');
        await tab.locator('dialog .btn.primary').click();
      } },
    { name: 'settings-mcp-remove', at: '/settings/mcp', then: press('main .list .btn.danger') },
    { name: 'settings-packages', at: '/settings/packages' },
    { name: 'settings-package-new', at: '/settings/packages', then: press('main .row-line > .btn:nth-child(2)') },
    { name: 'settings-looks', at: '/settings/looks' },
    { name: 'settings-keys', at: '/settings/keys' },
    { name: 'settings-health', at: '/settings/health' },
    { name: 'project', at: `/project/${ids.shop}` },
    { name: 'project-blank', at: `/project/${ids.blank}` },
    { name: 'project-orphan', at: `/project/${ids.orphan}` },
    { name: 'run-orphaned', at: run(ids.orphan, ids.orphaned) },
    { name: 'packages', at: `/project/${ids.shop}/packages?package=nested-review%400.1.0` },
    { name: 'launch', at: `/project/${ids.shop}/launch?package=hello-branch%400.1.0` },
    { name: 'runs', at: `/project/${ids.shop}/runs` },
    { name: 'run-done', at: run(ids.story, ids.done) },
    { name: 'run-called', at: run(ids.nested, ids.called) },
    { name: 'ask-choice', at: run(ids.shop, ids.asked.choice) },
    { name: 'ask-multi', at: run(ids.shop, ids.asked.multi) },
    { name: 'ask-confirm', at: run(ids.shop, ids.asked.confirm) },
    { name: 'ask-form', at: run(ids.shop, ids.asked.form) },
    { name: 'ask-text', at: run(ids.shop, ids.asked.text) },
    { name: 'ask-gate', at: run(ids.ferry, ids.gates.open) },
    { name: 'gate-chosen', at: run(ids.ferry, ids.gates.chosen) },
    { name: 'run-moved', at: run(ids.shop, ids.asked.moved) },
    { name: 'tour', at: tour('choice') },
    { name: 'tour-form', at: tour('form'), then: async (tab) => tab.locator('.ask input').first().fill(ids.words.wanted) },
    { name: 'tour-done', at: tour('done') },
    { name: 'run-works', at: tour('works') },
    { name: 'run-limited', at: run(ids.shop, ids.limited) },
    { name: 'run-failed', at: run(ids.shop, ids.failed) },
    { name: 'approval', at: tour('approval') },
    { name: 'approval-refuse', at: tour('approval'), then: async (tab) => tab.locator('.ask.approval .btn').first().click() },
    { name: 'tool-open', at: tour('choice'), then: async (tab) => {
        await tab.locator('[role=log]').evaluate((log) => (log.scrollTop = 0));
        await tab.locator('[role=log] .tool .head[aria-expanded=false]').first().click();
        await tab.locator('[role=log] button[aria-expanded=false]').first().click();
      } },
    { name: 'replay', at: run(ids.story, ids.done), then: async (tab) => {
        await tab.locator('header .btn.icon[aria-pressed]').click();
        await tab.locator('input[type=range]').fill('40');
      } },
    { name: 'graph-list', at: tour('choice'), then: async (tab) => {
        await inspector(0)(tab);
        await tab.locator('.tab .top .btn.icon').click();
      } },
    { name: 'graph-node', at: tour('choice'), then: async (tab) => {
        await inspector(0)(tab);
        await tab.locator('[data-node=step-01-intake]').click();
      } },
    { name: 'run-changes-open', at: tour('done'), then: async (tab) => {
        await inspector(1)(tab);
        await tab.locator('.inspector li .head').last().click();
      } },
    { name: 'run-changes', at: run(ids.story, ids.done), then: inspector(1) },
    { name: 'run-hunks', at: run(ids.story, ids.done), then: async (tab) => {
        await inspector(1)(tab);
        await tab.locator('section.inspector button.head').last().click();
      } },
    { name: 'undo-step', at: run(ids.story, ids.done), then: async (tab) => {
        await inspector(1)(tab);
        await tab.locator('section.inspector .steps select').selectOption({ index: 0 });
        await tab.locator('section.inspector .steps button').click();
      } },
    { name: 'fork', at: run(ids.story, ids.done), then: async (tab) => {
        // The list may still move to its end, and then another step is the last one.
        await eventually(async () => {
          await tab.keyboard.press('Escape');
          await tab.locator('[role=log] .step .icon').last().click({ timeout: 10_000 });
          await tab.locator('dialog input[type=checkbox]').check({ timeout: 10_000 });
        });
      } },
    { name: 'run-log', at: run(ids.story, ids.done), then: inspector(2) },
    { name: 'run-state', at: run(ids.story, ids.done), then: inspector(3) },
    { name: 'run-prompt', at: run(ids.story, ids.done), then: inspector(4) },
    { name: 'agent-menu', at: `/project/${ids.story}/work/${ids.conversation}` },
    { name: 'agent-unsure', at: `/project/${ids.story}/work/${ids.unsure}` },
    { name: 'composer-commands', at: `/project/${ids.story}/work/${ids.conversation}`, then: async (tab) => {
        await tab.locator('.composer textarea').fill('/');
      } },
    { name: 'chat', at: `/project/${ids.shop}/work/${ids.chat}` },
    { name: 'palette', at: `/project/${ids.shop}`, then: async (tab) => tab.keyboard.press('Control+k') },
    { name: 'toasts', at: `/project/${ids.story}/work/${ids.conversation}`, then: async (tab) => {
        for (const words of ['/status', '/agent nobody']) {
          await tab.locator('.composer textarea').fill(words);
          await tab.keyboard.press('Enter');
          await tab.waitForFunction(() => document.querySelector('.composer textarea')?.value === '');
        }
      } },
    { name: 'shortcuts', at: `/project/${ids.shop}`, then: async (tab) => tab.keyboard.press('?') },
    { name: 'files', at: run(ids.story, ids.done), then: async (tab) => {
        await tab.locator('nav.rail button').nth(1).click();
        await tab.locator('[role=treeitem]').first().click();
        await tab.locator('[role=treeitem][aria-level="2"]').last().click();
      } },
    { name: 'editor', at: run(ids.story, ids.done), then: async (tab) => {
        await tab.locator('nav.rail button').nth(1).click();
        await tab.locator('[role=treeitem]').last().click();
        await tab.locator('.file .bar [aria-pressed]').nth(1).click();
      } },
    { name: 'unknown', at: '/nowhere' },
  ];
}
