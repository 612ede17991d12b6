/** Opens a fixture: a store, a server, a browser context and a page that nothing else uses. */

import assert from 'node:assert/strict';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { callApi, DEADLINE, example, logIn, makeProject, makeScratch, openPage, serve, until, useModel } from './harness.mjs';

export const VIEW = { viewport: { width: 1440, height: 900 }, locale: 'en-GB' };

/** Writes the scenario of a model that is given as an object, and returns its name. */
async function modelName(folder, model) {
  if (typeof model === 'string' && model.startsWith('scripted:')) return model;
  const file = join(folder, 'model.yaml');
  await writeFile(file, typeof model === 'string' ? model : JSON.stringify({ scenario: 'a test', ...model }));
  return `scripted:${file}`;
}

/**
 * Opens a fixture in a browser. `model` is a scenario as an object or as text, or the name of a scripted model; `policy` and `run` are
 * lines of these tables; `config` is the text of the settings instead; `packages` are examples that are imported; `context` and `server` are options of the browser context and of the server.
 */
export async function openFixture(chrome, { model, policy = '', run = '', config, packages = ['hello-branch'], home, context: look = {}, server: how = {} } = {}) {
  const closers = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const scratch = await makeScratch();
    closers.push(scratch.remove);
    if (home) scratch.home = home;
    await mkdir(scratch.home, { recursive: true });
    if (config !== undefined) await writeFile(join(scratch.home, 'config.toml'), config);
    else if (model !== undefined) await useModel(scratch.home, await modelName(scratch.folder, model), policy, run);
    const server = await serve(scratch.home, how);
    closers.push(() => server.kill());
    const context = await chrome.newContext({ ...VIEW, ...look });
    closers.push(() => context.close());
    context.setDefaultTimeout(DEADLINE);
    context.setDefaultNavigationTimeout(DEADLINE);
    const cookie = await logIn(context, server);
    const { tab, errors } = await openPage(context);
    const fixture = { ...scratch, server, chrome, context, cookie, tab, errors, close, ...requests(scratch.folder, server, cookie, tab) };
    for (const name of packages) await fixture.importPackage(example(name));
    return fixture;
  } catch (error) {
    await close();
    throw error;
  }
}

/** What a test asks of its server, and where it goes in its page. */
function requests(folder, server, cookie, tab) {
  const api = (method, path, body) => callApi(server.origin, cookie, method, path, body);
  const importPackage = async (path) => {
    const report = await api('POST', '/api/packages/import', { path });
    assert.ok(report.package, JSON.stringify(report));
    return report;
  };
  /** Opens a folder as a project, new or with the files of a golden run. */
  const project = async (name, files = {}, golden = undefined) => {
    const path = await makeProject(folder, name, golden);
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(path, file)), { recursive: true });
      await writeFile(join(path, file), text);
    }
    const { id, ...fault } = await api('POST', '/api/projects', { path });
    assert.ok(id, JSON.stringify(fault));
    return { path, id };
  };
  const startRun = async (id, more = {}) => {
    const { runId, ...fault } = await api('POST', '/api/runs', { project: id, package: 'hello-branch', ...more });
    assert.ok(runId, JSON.stringify(fault));
    return runId;
  };
  const startConversation = async (id, more = {}) => {
    const { id: conversation, ...fault } = await api('POST', '/api/conversations', { project: id, ...more });
    assert.ok(conversation, JSON.stringify(fault));
    return conversation;
  };
  const address = (...path) => [server.origin, ...path].join('/');
  /** Opens a screen by its path. */
  const go = (...path) => tab.goto(address(...path));
  const showRun = (id, run) => go('project', id, 'run', run);
  const showConversation = (id, conversation) => go('project', id, 'work', conversation);
  const events = async (kind, id) => (await api('GET', `/api/${kind}/${id}/events?after=0`)).events;
  const status = async (run) => (await api('GET', `/api/runs/${run}`)).status;
  const untilStatus = (run, wanted) => until(`run ${run} is ${wanted}`, async () => (await status(run)) === wanted);
  /** Waits until no worker holds a run: the server gives an idle one back after a while, and its journal says so. */
  const untilReleased = (run) => until(`run ${run} is given back`, async () => (await events('runs', run)).at(-1).type === 'run.finished');
  /** The state that the header shows. */
  const pill = (look) => tab.locator(`header .pill.${look}`);
  const log = tab.getByRole('log');
  const field = tab.getByRole('textbox', { name: 'Message' });
  const send = async (text) => {
    await field.fill(text);
    await field.press('Enter');
  };
  return { api, importPackage, project, startRun, startConversation, address, go, showRun, showConversation, events, status, untilStatus, untilReleased, pill, log, field, send };
}

/** Makes a copy of an example with some of its JSON files changed. */
export async function alterExample(folder, name, from, changes) {
  const path = join(folder, name);
  await cp(example(from), path, { recursive: true });
  for (const [file, change] of Object.entries(changes)) {
    const at = join(path, file);
    const json = JSON.parse(await readFile(at, 'utf8'));
    change(json);
    await writeFile(at, JSON.stringify(json, null, 2));
  }
  return path;
}
