import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ask, browser, everything, example, crewagent, page, scenario, scratch, serve, settled, useModel } from './harness.mjs';
import { until } from './screens-fixture.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describe('the settings', () => {
  let place, server, chrome, tab, errors, api;
  const to = async (section) => {
    await tab.goto(`${server.origin}/settings/${section}`);
    await settled(tab);
  };
  const card = (name) => tab.getByRole('listitem').filter({ has: tab.getByRole('switch', { name: `Runs may use ${name}` }) });
  const objections = async () => {
    await tab.evaluate(axe);
    const { violations } = await tab.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
    return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(' ')).join(' | ')}`);
  };

  before(async () => {
    place = await scratch();
    const talk = new URL('./scenarios/tool-server.yaml', import.meta.url).pathname;
    await useModel(place.home, `scripted:${talk}`);
    assert.equal((await crewagent(place.home, 'package', 'import', example('create-story-micro'))).code, 0);
    server = await serve(place.home);
    chrome = await browser();
    const context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' });
    ({ tab, errors } = await page(context, server));
    api = (method, path, body) => ask(tab, method, path, body);
  });
  after(async () => {
    await chrome?.close();
    await server?.kill();
    await place?.remove();
  });

  it('without servers there is one sentence and one thing to do', async () => {
    await to('mcp');
    await tab.getByText('No MCP server is set up yet.').waitFor();
    assert.equal(await tab.locator('main .btn.primary').count(), 1);
    assert.deepEqual(await objections(), []);
  });

  it('a server is added by keyboard, its exact command is shown first, and saving starts nothing', async () => {
    const marker = join(place.folder, 'started');
    const [node, program, how] = everything();
    await tab.getByRole('button', { name: 'Add a server' }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('textbox', { name: 'Name', exact: true }).fill('real');
    // A whole line is taken apart on request.
    await tab.getByRole('textbox', { name: 'Program' }).fill(`sh -c 'touch "$0"; exec "$@"' ${marker} ${node} ${program} ${how}`);
    await tab.getByRole('button', { name: 'Use the rest as arguments' }).focus();
    await tab.keyboard.press('Enter');
    assert.equal(await tab.getByRole('textbox', { name: 'Program' }).inputValue(), 'sh');
    const words = ['-c', 'touch "$0"; exec "$@"', marker, node, program, how];
    assert.deepEqual((await tab.getByRole('textbox', { name: 'Arguments' }).inputValue()).split('\n'), words);
    await tab.getByRole('button', { name: 'Add a variable' }).click();
    await tab.getByRole('textbox', { name: 'Name 1' }).fill('API_KEY');
    const secret = tab.getByLabel('Value of API_KEY');
    await secret.fill('hunter2-hunter2');
    assert.equal(await secret.getAttribute('type'), 'password');
    const exact = tab.locator('dialog').getByRole('status');
    assert.match(await exact.innerText(), /This runs on this computer with your rights/);
    assert.ok((await exact.innerText()).includes(`sh -c 'touch "$0"; exec "$@"' ${marker} ${node} ${program} ${how}`));
    assert.deepEqual(await objections(), []);
    await tab.getByRole('button', { name: 'Save', exact: true }).focus();
    await tab.keyboard.press('Enter');
    await card('real').getByText('Off', { exact: true }).waitFor();
    assert.ok(!existsSync(marker), 'to save it starts nothing');
    await card('real').getByRole('button', { name: 'Test real' }).focus();
    await tab.keyboard.press('Enter');
    await card('real').locator('summary').filter({ hasText: /\d+ tools/ }).waitFor();
    assert.ok(existsSync(marker));
  });

  it('its tools have their rules, and the policy says who decided', async () => {
    await card('real').locator('summary').click();
    const echo = card('real').getByRole('listitem').filter({ hasText: 'Echoes back' });
    await echo.getByText('servers are not allowed, settings').waitFor();
    await tab.getByRole('switch', { name: /Runs may use MCP servers/ }).press('Space');
    await tab.getByRole('switch', { name: 'Runs may use real' }).press('Space');
    await card('real').getByText('On', { exact: true }).waitFor();
    await echo.getByText('no rule').waitFor();
    await to('policy');
    const row = (tool) => tab.getByRole('row').filter({ has: tab.getByText(tool, { exact: true }) });
    await row('mcp.real.*').getByRole('button', { name: /Show \d+ tools/ }).click();
    await row('mcp.real.echo').getByRole('radio', { name: /Ask first/ }).check();
    await row('mcp.real.echo').getByText('rule mcp.real.echo, settings').waitFor();
    await row('mcp.real.*').getByRole('radio', { name: /Deny/ }).check();
    await row('mcp.real.get-sum').getByText('rule mcp.real.*, settings').waitFor();
    // An exception from a wider rule needs a rule of its own; without the wider one it does not.
    await row('mcp.real.get-sum').getByRole('radio', { name: /Allow/ }).check();
    await row('mcp.real.get-sum').getByText('rule mcp.real.get-sum, settings').waitFor();
    await row('mcp.real.*').getByRole('radio', { name: /Allow/ }).check();
    await row('mcp.real.*').getByText('no rule').waitFor();
    const survey = await api('GET', '/api/tools');
    const held = Object.fromEntries(survey.tools.map((one) => [one.tool, one.verdict]));
    assert.deepEqual([held['mcp.real.echo'], held['mcp.real.get-sum'], held['mcp.real.get-env']], ['ask', 'allow', 'allow']);
    // The agent of a package that does not ask for servers has none.
    await tab.getByLabel('Show what holds for').selectOption({ index: 1 });
    await row('mcp.real.echo').getByText('servers are not allowed, agent').waitFor();
    assert.deepEqual(await objections(), []);
  });

  it('what holds in general is told, with the folders that are exceptions', async () => {
    await api('PATCH', '/api/settings', { key: 'policy.ask', value: ['mcp.real.echo', 'fs.write(@project/src)'] });
    await to('policy');
    const write = tab.getByRole('row').filter({ has: tab.getByRole('radio', { name: 'Write files: Deny' }) });
    await write.getByRole('radio', { name: 'Write files: Deny' }).click();
    await write.getByText('rule fs.write').waitFor();
    assert.equal(await write.getByRole('radio', { name: 'Write files: Deny' }).isChecked(), true);
    await write.getByText('below @project/src: Ask first').waitFor();
    assert.deepEqual(await objections(), []);
    await api('PATCH', '/api/settings', { key: 'policy.ask', value: ['mcp.real.echo'] });
    await api('PATCH', '/api/settings', { key: 'policy.deny' });
  });

  it('a conversation asks before it uses the tool, and gets what the server says', async () => {
    const folder = join(place.folder, 'shop');
    await mkdir(folder);
    const { id } = await api('POST', '/api/projects', { path: folder });
    const talk = (await api('POST', '/api/conversations', { project: id })).id;
    await tab.goto(`${server.origin}/project/${id}/work/${talk}`);
    const field = tab.getByRole('textbox', { name: 'Message' });
    await field.fill('Say it again');
    await field.press('Enter');
    await tab.getByRole('button', { name: /Allow once/ }).click();
    await tab.getByRole('log').getByText('The server said it.').waitFor();
    const events = await api('GET', `/api/conversations/${talk}/events?after=0`);
    assert.match(JSON.stringify(events), /Echo: größer/);
  });

  it('a server that fails names the step and what it wrote', async () => {
    await to('mcp');
    await tab.getByRole('button', { name: 'Add a server' }).click();
    await tab.getByRole('textbox', { name: 'Name', exact: true }).fill('broken');
    await tab.getByRole('textbox', { name: 'Program' }).fill(process.execPath);
    await tab.getByRole('textbox', { name: 'Arguments' }).fill('-e\nconsole.error("no licence found"); process.exit(3)');
    await tab.getByRole('textbox', { name: 'Arguments' }).press('Tab');
    await tab.getByRole('button', { name: 'Save and test' }).click();
    const steps = card('broken').getByRole('list', { name: 'The way to the tools' });
    await steps.getByRole('listitem').filter({ hasText: 'Handshake' }).getByRole('img', { name: 'Failed' }).waitFor();
    await card('broken').getByLabel('The last lines it wrote').getByText('no licence found').waitFor();
    assert.deepEqual(await objections(), []);
  });

  it('a secret that went in is on no page and in no answer', async () => {
    await card('real').getByRole('button', { name: 'Edit real' }).click();
    const value = tab.getByLabel('Value of API_KEY');
    assert.equal(await value.inputValue(), '${API_KEY}');
    assert.ok(!(await tab.content()).includes('hunter2'));
    assert.ok(!JSON.stringify(await api('GET', '/api/mcp')).includes('hunter2'));
    assert.ok(!(await readFile(join(place.home, 'config.toml'), 'utf8')).includes('hunter2'));
    await tab.keyboard.press('Escape');
    await tab.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await tab.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Edit real');
  });

  it('servers of another tool are looked at before they are set up', async () => {
    await tab.getByRole('button', { name: 'Take over from another tool' }).click();
    await tab.getByLabel('JSON with mcpServers').fill('{"mcpServers": {"My Files": {"command": "npx", "args": ["-y", "files"], "env": {"TOKEN": "t0p-s3cret"}}}}');
    await tab.getByRole('button', { name: 'Look at it' }).click();
    await tab.getByRole('dialog').getByText('npx -y files').waitFor();
    await tab.getByRole('dialog').getByText('Stored apart as secrets: TOKEN').waitFor();
    assert.deepEqual(await objections(), []);
    await tab.getByRole('button', { name: 'Set up 1 server' }).click();
    await card('My-Files').getByText('Off', { exact: true }).waitFor();
  });

  it('a server is removed after a question whose first answer is no', async () => {
    await card('broken').getByRole('button', { name: 'Remove broken' }).click();
    assert.equal(await tab.evaluate(() => document.activeElement?.textContent), 'Cancel');
    await tab.keyboard.press('Enter');
    await tab.getByRole('dialog').waitFor({ state: 'detached' });
    await card('broken').getByRole('button', { name: 'Remove broken' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await card('broken').waitFor({ state: 'detached' });
    assert.deepEqual((await api('GET', '/api/mcp')).servers.map((one) => one.name), ['My-Files', 'real']);
  });

  it('health shows what the doctor finds, with what to do', async () => {
    await api('PUT', '/api/mcp/servers/lost', { way: { kind: 'stdio', command: 'x', args: ['${CREWAGENT_TEST_UNSET}'] }, enabled: true });
    await to('health');
    const told = JSON.parse((await crewagent(place.home, 'doctor', '--json')).out);
    for (const check of told.checks.filter((one) => one.name !== 'terminal')) await tab.getByText(check.message, { exact: true }).waitFor();
    await tab.getByText('lost needs CREWAGENT_TEST_UNSET').waitFor();
    await tab.getByText(/set these environment variables/).waitFor();
    assert.deepEqual(await objections(), []);
    await tab.getByRole('link', { name: 'Open: MCP servers' }).press('Enter');
    await tab.getByText('Not set: CREWAGENT_TEST_UNSET').waitFor();
  });

  it('a new package is written, and packed into a file', async () => {
    await to('packages');
    await tab.getByRole('button', { name: 'New package' }).click();
    const folder = join(place.folder, 'my-package');
    await tab.getByRole('textbox', { name: 'Folder to make for it' }).fill(folder);
    await tab.getByRole('radio', { name: 'With a decision' }).check();
    await tab.getByRole('button', { name: 'Make it' }).click();
    await tab.getByText(`The package is in ${folder}.`).waitFor();
    assert.ok(existsSync(join(folder, 'bmad.json')));
    await tab.getByRole('button', { name: 'Pack a folder' }).click();
    const path = tab.getByLabel('Folder', { exact: true });
    await until('the folder is listed', async () => (await path.inputValue()) !== '');
    await path.fill(folder);
    await path.press('Enter');
    await until('the folder is shown', async () => (await path.inputValue()) === folder);
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    await tab.getByText(/^Packed into .*my-package-0\.1\.0\.bmad/).waitFor();
  });

  it('a run is recorded as a scenario that can be downloaded', async () => {
    const folder = join(place.folder, 'book');
    await mkdir(folder);
    const { id } = await api('POST', '/api/projects', { path: folder });
    const { runId } = await api('POST', '/api/runs', { project: id, package: 'create-story-micro', model: scenario('001-create-story-micro') });
    await until('the run rests', async () => (await api('GET', `/api/runs/${runId}`)).status === 'waiting-user');
    await tab.goto(`${server.origin}/project/${id}/runs`);
    const [file] = await Promise.all([tab.waitForEvent('download'), tab.getByRole('button', { name: 'Scenario' }).click()]);
    assert.match(await readFile(await file.path(), 'utf8'), /^# .*[^]*nodes:/m);
  });

  it('speaks Chinese, too', async () => {
    await tab.evaluate(() => localStorage.setItem('crewagent.prefs', JSON.stringify({ language: 'zh' })));
    for (const [section, words] of [['mcp', '添加服务器'], ['policy', '生效情况与依据'], ['health', '重新检查']]) {
      await to(section);
      await until(words, async () => (await tab.locator('main').innerText()).includes(words));
    }
    assert.deepEqual(errors, []);
  });
});
