/** A store with something in every state, for pictures and for the accessibility checks. */

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ask, browser, crewagent, everything, example, page, project, scenario, scratch, serve, useModel } from './harness.mjs';

const own = (name) => `scripted:${join(dirname(fileURLToPath(import.meta.url)), 'scenarios', name)}`;

/** Waits until something is so. */
export async function until(what, check, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`it did not come to this: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

export async function scene() {
  const place = await scratch();
  const { folder, home } = place;
  await useModel(home, own('every-question.yaml'));
  for (const name of ['create-story-micro', 'hello-branch', 'nested-review', 'multi-workflows']) {
    const done = await crewagent(home, 'package', 'import', example(name));
    if (done.code !== 0) throw new Error(done.err);
  }
  const shop = await project(folder, 'acme-shop', '002-branch-greenfield');
  const story = await project(folder, 'story-book', '001-create-story-micro');
  const nested = await project(folder, 'release', '013-child-waits');
  const server = await serve(home);
  const chrome = await browser();
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', reducedMotion: 'reduce' });
  const { tab, errors } = await page(context, server);
  const api = (method, path, body) => ask(tab, method, path, body);

  const open = async (path) => (await api('POST', '/api/projects', { path })).id;
  const [shopId, storyId, nestedId] = [await open(shop), await open(story), await open(nested)];
  const status = async (run) => (await api('GET', `/api/runs/${run}`)).status;
  const rests = (run) => until(`run ${run} rests`, async () => !['running'].includes(await status(run)));
  const say = async (run, text) => {
    await api('POST', `/api/runs/${run}/say`, { text });
    await rests(run);
  };

  // A run that is complete.
  const done = (await api('POST', '/api/runs', { project: storyId, package: 'create-story-micro', model: scenario('001-create-story-micro') })).runId;
  await rests(done);
  await say(done, '1-2-user-authentication');
  // One in a called workflow.
  const called = (await api('POST', '/api/runs', { project: nestedId, package: 'nested-review', model: scenario('013-child-waits'), variables: { docPath: 'docs/lost.md' } })).runId;
  await rests(called);
  // One for every question.
  const asked = {};
  for (const [kind, answers] of Object.entries({
    choice: [],
    multi: ['greenfield'],
    confirm: ['greenfield', 'speed, cost'],
    form: ['greenfield', 'speed', 'yes'],
    text: ['greenfield', 'speed', 'yes', '{"name":"Repair","visitors":20}'],
    moved: ['greenfield', 'speed', 'yes', '{"name":"Repair","visitors":20}', 'A sign-up page for the repair cafe'],
  })) {
    const run = (await api('POST', '/api/runs', { project: shopId, package: 'hello-branch' })).runId;
    await rests(run);
    for (const answer of answers) await say(run, answer);
    asked[kind] = run;
  }
  // A conversation with an agent, and one without.
  const talk = (await api('POST', '/api/conversations', { project: storyId, package: 'create-story-micro', agent: 'sm', model: scenario('001-create-story-micro') })).id;
  const chat = (await api('POST', '/api/conversations', { project: shopId })).id;
  await api('POST', `/api/conversations/${chat}/say`, { text: 'What is in this project?' });

  // MCP servers: one that works and is on, one that fails, one that is off and has a secret.
  const [command, ...args] = everything();
  const serverAt = (name) => `/api/mcp/servers/${name}`;
  await api('PATCH', '/api/settings', { key: 'policy.mcp.enabled', value: true });
  await api('PATCH', '/api/settings', { key: 'policy.ask', value: ['mcp.everything.echo', 'fs.write(@project/src)'] });
  await api('PUT', serverAt('everything'), { way: { kind: 'stdio', command, args }, enabled: true });
  await api('PUT', serverAt('broken'), { way: { kind: 'stdio', command, args: ['-e', 'console.error("no licence found, giving up"); process.exit(3)'] } });
  await api('PUT', serverAt('tracker'), { way: { kind: 'http', url: 'https://tracker.example/mcp', headers: [{ name: 'Authorization', value: 'Bearer ${TRACKER_TOKEN}' }] } });
  for (const name of ['everything', 'broken']) await api('POST', `${serverAt(name)}/test`, {});

  const close = async () => {
    await chrome.close();
    await server.kill();
    await place.remove();
  };
  return { ...place, server, chrome, context, tab, errors, api, say, rests, status, ids: { shop: shopId, story: storyId, nested: nestedId, done, called, asked, talk, chat }, close };
}
