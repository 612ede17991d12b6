/** The settings: tool servers, the policy, models, health, and what is kept secret. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { assertAccessible, crewagent, eventually, everythingCommand, goldenModel, ownModel, simpleToolServer, until } from './harness.mjs';

const KEY = 'sk-very-secret-0123456789';
const BROKEN = { kind: 'stdio', command: process.execPath, args: ['-e', 'console.error("no licence found"); process.exit(3)'] };

/** Makes a test of the settings, which has functions for tool servers. */
const withSettings = (body, options = {}) =>
  withFixture({ packages: ['create-story-micro'], model: ownModel('tool-server.yaml'), allowedErrors: /^$/, ...options }, async (fixture) => {
    const { tab, api } = fixture;
    const card = (name) => tab.getByRole('listitem').filter({ has: tab.getByRole('switch', { name: `Runs may use ${name}` }) });
    const row = (tool) => tab.getByRole('row').filter({ has: tab.getByText(tool, { exact: true }) });
    const openSection = async (section) => {
      await fixture.go('settings', section);
      await tab.locator('main h1, main h2').first().waitFor();
    };
    /** Sets up the simple tool server as `real`. */
    const addServer = async (more = {}) => {
      const [command, ...args] = simpleToolServer();
      await api('PUT', '/api/mcp/servers/real', { way: { kind: 'stdio', command, args, ...more.way }, enabled: more.enabled ?? true });
      await api('POST', '/api/mcp/servers/real/test', {});
    };
    const setPolicy = (key, value) => api('PATCH', '/api/settings', { key: `policy.${key}`, value });
    await body({ ...fixture, card, row, openSection, addServer, setPolicy });
  });

describe('tool servers', () => {
  it('without any there is one sentence and one thing to do', withSettings(async ({ tab, openSection }) => {
    await openSection('mcp');
    await tab.getByText('No MCP server is set up yet.').waitFor();
    assert.equal(await tab.locator('main .btn.primary').count(), 1);
    await assertAccessible(tab);
  }));

  it('one is added by keyboard, its exact command is shown first, and saving starts nothing', withSettings(async ({ tab, folder, card, openSection }) => {
    const marker = join(folder, 'started');
    const [node, program, how] = everythingCommand();
    await openSection('mcp');
    await tab.getByRole('button', { name: 'Add a server' }).press('Enter');
    await tab.getByRole('textbox', { name: 'Name', exact: true }).fill('real');
    // A whole line is taken apart on request.
    await tab.getByRole('textbox', { name: 'Program' }).fill(`sh -c 'touch "$0"; exec "$@"' ${marker} ${node} ${program} ${how}`);
    await tab.getByRole('button', { name: 'Use the rest as arguments' }).press('Enter');
    await eventually(async () => assert.equal(await tab.getByRole('textbox', { name: 'Program' }).inputValue(), 'sh'));
    const words = ['-c', 'touch "$0"; exec "$@"', marker, node, program, how];
    assert.deepEqual((await tab.getByRole('textbox', { name: 'Arguments' }).inputValue()).split('\n'), words);
    await tab.getByRole('button', { name: 'Add a variable' }).click();
    await tab.getByRole('textbox', { name: 'Name 1' }).fill('API_KEY');
    const secret = tab.getByLabel('Value of API_KEY');
    await secret.fill('hunter2-hunter2');
    assert.equal(await secret.getAttribute('type'), 'password');
    const exact = tab.locator('dialog').getByRole('status');
    await exact.filter({ hasText: 'This runs on this computer with your rights' }).waitFor();
    assert.ok((await exact.innerText()).includes(`sh -c 'touch "$0"; exec "$@"' ${marker} ${node} ${program} ${how}`));
    await assertAccessible(tab);
    await tab.getByRole('button', { name: 'Save', exact: true }).press('Enter');
    await card('real').getByText('Off', { exact: true }).waitFor();
    assert.ok(!existsSync(marker), 'to save it starts nothing');
    await card('real').getByRole('button', { name: 'Test real' }).press('Enter');
    await card('real').locator('summary').filter({ hasText: /\d+ tools/ }).waitFor();
    assert.ok(existsSync(marker));
  }));

  it('the tools of one have their rules', withSettings(async ({ tab, card, openSection, addServer }) => {
    await addServer({ enabled: false });
    await openSection('mcp');
    await card('real').locator('summary').click();
    const echo = card('real').getByRole('listitem').filter({ hasText: 'Echoes back' });
    await echo.getByText('servers are not allowed, settings').waitFor();
    await tab.getByRole('switch', { name: /Runs may use MCP servers/ }).press('Space');
    await tab.getByRole('switch', { name: 'Runs may use real' }).press('Space');
    await card('real').getByText('On', { exact: true }).waitFor();
    await echo.getByText('no rule').waitFor();
  }));

  it('one that fails names the step and what it wrote', withSettings(async ({ tab, card, openSection }) => {
    await openSection('mcp');
    await tab.getByRole('button', { name: 'Add a server' }).click();
    await tab.getByRole('textbox', { name: 'Name', exact: true }).fill('broken');
    await tab.getByRole('textbox', { name: 'Program' }).fill(BROKEN.command);
    await tab.getByRole('textbox', { name: 'Arguments' }).fill(BROKEN.args.join('\n'));
    await tab.getByRole('textbox', { name: 'Arguments' }).press('Tab');
    await tab.getByRole('button', { name: 'Save and test' }).click();
    const steps = card('broken').getByRole('list', { name: 'The way to the tools' });
    await steps.getByRole('listitem').filter({ hasText: 'Handshake' }).getByRole('img', { name: 'Failed' }).waitFor();
    await card('broken').getByLabel('The last lines it wrote').getByText('no licence found').waitFor();
    await assertAccessible(tab);
  }));

  it('a secret that went in is on no page and in no answer', withSettings(async ({ tab, api, home, card, openSection, addServer }) => {
    await addServer({ way: { env: [{ name: 'API_KEY', value: 'hunter2-hunter2' }] } });
    await openSection('mcp');
    await card('real').getByRole('button', { name: 'Edit real' }).click();
    await eventually(async () => assert.equal(await tab.getByLabel('Value of API_KEY').inputValue(), '${API_KEY}'));
    assert.ok(!(await tab.content()).includes('hunter2'));
    assert.ok(!JSON.stringify(await api('GET', '/api/mcp')).includes('hunter2'));
    assert.ok(!(await readFile(join(home, 'config.toml'), 'utf8')).includes('hunter2'));
    await tab.keyboard.press('Escape');
    await tab.getByRole('dialog').waitFor({ state: 'detached' });
    await eventually(async () => assert.equal(await tab.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Edit real'));
  }));

  it('those of another tool are looked at before they are set up', withSettings(async ({ tab, card, openSection }) => {
    await openSection('mcp');
    await tab.getByRole('button', { name: 'Import from Claude, VS Code…' }).click();
    await tab.getByLabel('JSON with mcpServers').fill('{"mcpServers": {"My Files": {"command": "npx", "args": ["-y", "files"], "env": {"TOKEN": "t0p-s3cret"}}}}');
    await tab.getByRole('button', { name: 'Look at it' }).click();
    await tab.getByRole('dialog').getByText('npx -y files').waitFor();
    await tab.getByRole('dialog').getByText('Stored apart as secrets: TOKEN').waitFor();
    await assertAccessible(tab);
    await tab.getByRole('button', { name: 'Set up 1 server' }).click();
    await card('My-Files').getByText('Off', { exact: true }).waitFor();
  }));

  it('one is removed after a question whose first answer is no', withSettings(async ({ tab, api, card, openSection }) => {
    await api('PUT', '/api/mcp/servers/broken', { way: BROKEN });
    await api('PUT', '/api/mcp/servers/other', { way: BROKEN });
    await openSection('mcp');
    await card('broken').getByRole('button', { name: 'Remove broken' }).click();
    await eventually(async () => assert.equal(await tab.evaluate(() => document.activeElement?.textContent), 'Cancel'));
    await tab.keyboard.press('Enter');
    await tab.getByRole('dialog').waitFor({ state: 'detached' });
    await card('broken').getByRole('button', { name: 'Remove broken' }).click();
    await tab.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await card('broken').waitFor({ state: 'detached' });
    assert.deepEqual((await api('GET', '/api/mcp')).servers.map((one) => one.name), ['other']);
  }));

  it('a conversation asks before it uses a tool, and gets what the server answers', withSettings(async ({ tab, log, send, project, startConversation, showConversation, events, addServer, setPolicy }) => {
    await addServer();
    await setPolicy('mcp.enabled', true);
    await setPolicy('ask', ['mcp.real.echo']);
    const shop = await project('shop');
    const conversation = await startConversation(shop.id);
    await showConversation(shop.id, conversation);
    await send('Say it again');
    await tab.getByRole('button', { name: /Allow once/ }).click();
    await log.getByText('The server said it.').waitFor();
    assert.match(JSON.stringify(await events('conversations', conversation)), /Echo: größer/);
  }));
});

describe('the policy', () => {
  it('has a rule for each tool of a server, and says which one decides', withSettings(async ({ tab, api, row, openSection, addServer, setPolicy }) => {
    await addServer();
    await setPolicy('mcp.enabled', true);
    await openSection('policy');
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
    await assertAccessible(tab);
  }));

  it('says what holds in general, with the folders that are exceptions', withSettings(async ({ tab, openSection, setPolicy }) => {
    await setPolicy('ask', ['fs.write(@project/src)']);
    await openSection('policy');
    const write = tab.getByRole('row').filter({ has: tab.getByRole('radio', { name: 'Write files: Deny' }) });
    await write.getByRole('radio', { name: 'Write files: Deny' }).click();
    await write.getByText('rule fs.write').waitFor();
    await write.getByRole('radio', { name: 'Write files: Deny', checked: true }).waitFor();
    await write.getByText('below @project/src: Ask first').waitFor();
    await assertAccessible(tab);
  }));

  it('holds at once, and each line says which rule decides', withSettings(async ({ tab, api, openSection }) => {
    await openSection('policy');
    await tab.getByRole('radio', { name: 'Write files: Ask first' }).click();
    await tab.getByRole('row', { name: /Write files/ }).getByText('rule fs.write, settings').waitFor();
    assert.deepEqual((await api('GET', '/api/settings')).settings.find((one) => one.key === 'policy.ask').value, ['fs.write']);
    await tab.getByRole('row', { name: /Read files/ }).filter({ hasText: /Allow.*no rule/ }).waitFor();
  }));
});

describe('a model', () => {
  const error = (message, code) => ({ error: { message, code } });
  const WITHOUT_TOOLS = { id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }] };

  for (const [layer, url, answer] of [
    ['DNS', () => 'http://no-such-host.invalid/v1'],
    ['Connection', () => 'http://127.0.0.1:9/v1'],
    ['TLS', (provider) => `https://${provider}/v1`],
    ['Key', (provider) => `http://${provider}/v1`, { status: 401, body: error('bad key', 'invalid_api_key') }],
    ['Model', (provider) => `http://${provider}/v1`, { status: 404, body: error('The model `m` does not exist', 'model_not_found') }],
    ['Tools', (provider) => `http://${provider}/v1`, { status: 200, body: WITHOUT_TOOLS }],
  ]) {
    it(`a connection test names the layer that fails: ${layer}`, withSettings(async ({ tab, api, openSection }, t) => {
      const provider = createServer((incoming, outgoing) => {
        incoming.resume();
        incoming.on('end', () => outgoing.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body)));
      });
      await new Promise((done) => provider.listen(0, '127.0.0.1', done));
      try {
        await api('PUT', '/api/models/mine', { model: 'm', profile: 'openai', baseUrl: url(`127.0.0.1:${provider.address().port}`), key: KEY, useIt: true });
        await openSection('models');
        await tab.getByRole('button', { name: 'Test connection' }).click();
        const steps = tab.getByRole('list', { name: 'The way to the model' }).getByRole('listitem');
        const failed = steps.filter({ has: tab.locator('[aria-label="Failed"], title:text("Failed")') }).first();
        await failed.waitFor();
        assert.ok(((await failed.textContent()) ?? '').includes(layer), await failed.textContent());
      } finally {
        provider.closeAllConnections();
        provider.close();
      }
    }, { packages: [] }));
  }

  it('has a key that goes in and never comes out', withSettings(async ({ tab, api, openSection }) => {
    await api('PUT', '/api/models/mine', { model: 'm', profile: 'openai', baseUrl: 'http://127.0.0.1:9/v1', key: KEY, useIt: true });
    await openSection('models');
    await tab.getByRole('button', { name: 'Edit' }).click();
    await tab.getByRole('dialog').waitFor();
    assert.doesNotMatch(await tab.content(), new RegExp(KEY));
    await tab.getByLabel('Type it here').or(tab.getByRole('radio', { name: 'Type it here' })).first().click();
    await eventually(async () => assert.equal(await tab.getByRole('dialog').locator('input[type=password]').count(), 1));
    for (const path of ['/api/models', '/api/settings', '/api/app', '/api/doctor']) {
      assert.ok(!JSON.stringify(await api('GET', path)).includes(KEY), path);
    }
  }, { packages: [] }));
});

describe('health', () => {
  it('shows what the doctor finds, with what to do', withSettings(async ({ tab, api, home, openSection }) => {
    await api('PUT', '/api/mcp/servers/lost', { way: { kind: 'stdio', command: 'x', args: ['${CREWAGENT_TEST_UNSET}'] }, enabled: true });
    await openSection('health');
    const { checks } = JSON.parse((await crewagent(home, 'doctor', '--json')).out);
    for (const check of checks.filter((one) => one.name !== 'terminal')) await tab.getByText(check.message, { exact: true }).waitFor();
    await tab.getByText('lost needs CREWAGENT_TEST_UNSET').waitFor();
    await tab.getByText(/set these environment variables/).waitFor();
    await assertAccessible(tab);
    await tab.getByRole('link', { name: 'Open: MCP servers' }).press('Enter');
    await tab.getByText('Not set: CREWAGENT_TEST_UNSET').waitFor();
  }));
});

describe('a model server of this computer', () => {
  it('is found on Start, and one click makes runs use its model', async (t) => {
    const models = createServer((_, answer) => answer.setHeader('content-type', 'application/json').end(JSON.stringify({ data: [{ id: 'qwen3:8b' }, { id: 'nomic-embed-text' }] })));
    await new Promise((done) => models.listen(0, '127.0.0.1', done));
    t.after(() => models.close());
    const env = { CREWAGENT_LOCAL_SERVERS: `ollama=http://127.0.0.1:${models.address().port}/v1` };
    await withFixture({ server: { env } }, async ({ tab, go, api }) => {
      await go('settings/models?add=model');
      const form = tab.getByRole('dialog', { name: 'Add a model' });
      await until('its only model is filled in', async () => (await form.getByLabel('Model', { exact: true }).inputValue()) === 'qwen3:8b');
      await form.getByRole('radio', { name: 'No key is needed', checked: true }).waitFor();
      await form.getByLabel('Model', { exact: true }).fill('');
      await form.getByText('Choose or type a model.').waitFor();
      await form.getByRole('button', { name: 'Cancel' }).click();
      await go();
      await tab.getByText('Ollama runs on this computer.').waitFor();
      await assertAccessible(tab);
      await tab.getByRole('button', { name: 'Use qwen3:8b' }).click();
      await tab.getByText('qwen3-8b is set up.').waitFor();
      const { models: saved } = await api('GET', '/api/models');
      assert.deepEqual([saved[0].model, saved[0].profile, saved[0].key], ['qwen3:8b', 'ollama', 'none']);
    })(t);
  });
});

/** Chooses the script in the menu of the only run. */
async function saveScript(tab) {
  await tab.locator('main .run').getByRole('button', { name: /^More for/ }).click();
  await tab.getByRole('menuitem', { name: /Save as replayable script/ }).click();
}

describe('a run', () => {
  it('is recorded as a scenario that can be downloaded', withSettings(async ({ tab, go, project, startRun, untilStatus }) => {
    const book = await project('book');
    const run = await startRun(book.id, { package: 'create-story-micro', model: goldenModel('001-create-story-micro') });
    await untilStatus(run, 'waiting-user');
    await go('project', book.id, 'runs');
    const [file] = await Promise.all([tab.waitForEvent('download'), saveScript(tab)]);
    assert.match(await readFile(await file.path(), 'utf8'), /^# .*[^]*nodes:/m);
  }));
});

describe('in Chinese', () => {
  it('the settings speak Chinese, too', withSettings(async ({ tab, context, openSection }) => {
    await context.addInitScript(() => localStorage.setItem('crewagent.prefs', JSON.stringify({ language: 'zh' })));
    for (const [section, words] of [['mcp', '添加服务器'], ['policy', '生效情况与依据'], ['health', '重新检查']]) {
      await openSection(section);
      await until(words, async () => (await tab.locator('main').innerText()).includes(words));
    }
  }));
});
