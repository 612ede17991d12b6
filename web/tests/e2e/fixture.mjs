/** A store, a server and a browser for one group of tests, and packages that are made for them. */

import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, browser, example, page, scratch, serve, useModel } from './harness.mjs';

export const VIEW = { viewport: { width: 1440, height: 900 }, locale: 'en-GB' };

/** Everything that a test needs, from an empty store. `model` is a scenario as text. */
export async function desk({ model, policy = '', home, browserArgs = [], server: how = {} } = {}) {
  const place = await scratch();
  if (home) place.home = home;
  await mkdir(place.home, { recursive: true });
  if (model !== undefined) {
    const file = join(place.folder, 'model.yaml');
    await writeFile(file, model);
    await useModel(place.home, `scripted:${file}`, policy);
  }
  const server = await serve(place.home, how);
  const chrome = await browser(...browserArgs);
  const context = await chrome.newContext(VIEW);
  const { tab, errors } = await page(context, server);
  const api = (method, path, body) => ask(tab, method, path, body);
  const close = async () => {
    await chrome.close();
    await server.kill();
    await place.remove();
  };
  /** Opens a new folder as a project. */
  const project = async (name, files = {}) => {
    const path = join(place.folder, name);
    await mkdir(path, { recursive: true });
    for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text);
    return { path, id: (await api('POST', '/api/projects', { path })).id };
  };
  const run = async (id, pack, more = {}) => (await api('POST', '/api/runs', { project: id, package: pack, ...more })).runId;
  const show = (id, runId) => tab.goto(`${server.origin}/project/${id}/run/${runId}`);
  return { ...place, server, chrome, context, tab, errors, api, project, run, show, close };
}

/** A copy of an example with some of its JSON files changed. */
export async function altered(folder, name, from, changes) {
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
