/** Every screen: its name, its address, and what brings it into the state that is looked at. */

export function screens(ids) {
  const press = (selector) => async (tab) => tab.click(selector);
  const inspector = (name) => async (tab) => {
    if ((tab.viewportSize()?.width ?? 0) < 1280) await tab.evaluate(() => document.querySelector('header button[aria-label="Run details"], header button[aria-label="运行详情"]')?.click());
    await tab.locator('section.inspector [role=tab]').nth(name).click();
  };
  const run = (project, id) => `/project/${project}/run/${id}`;
  return [
    { name: 'start', at: '/' },
    { name: 'import', at: '/import' },
    { name: 'settings-models', at: '/settings/models' },
    { name: 'settings-model-new', at: '/settings/models', then: press('main .btn.primary') },
    { name: 'settings-runs', at: '/settings/runs' },
    { name: 'settings-policy', at: '/settings/policy' },
    { name: 'settings-mcp', at: '/settings/mcp' },
    { name: 'settings-packages', at: '/settings/packages' },
    { name: 'settings-looks', at: '/settings/looks' },
    { name: 'settings-keys', at: '/settings/keys' },
    { name: 'project', at: `/project/${ids.shop}` },
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
    { name: 'run-moved', at: run(ids.shop, ids.asked.moved) },
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
        await tab.locator('[role=log] .step .icon').last().click();
        await tab.locator('dialog input[type=checkbox]').check();
      } },
    { name: 'run-log', at: run(ids.story, ids.done), then: inspector(2) },
    { name: 'run-state', at: run(ids.story, ids.done), then: inspector(3) },
    { name: 'run-prompt', at: run(ids.story, ids.done), then: inspector(4) },
    { name: 'agent-menu', at: `/project/${ids.story}/work/${ids.talk}` },
    { name: 'chat', at: `/project/${ids.shop}/work/${ids.chat}` },
    { name: 'palette', at: `/project/${ids.shop}`, then: async (tab) => tab.keyboard.press('Control+k') },
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
