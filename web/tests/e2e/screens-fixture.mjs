/** A store with something in every state, for pictures and for the accessibility checks. */

import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ask, browser, crewagent, everything, example, own, page, project, scenario, scratch, serve, settled, useModel } from './harness.mjs';
import { NOW, steady } from './normalize.mjs';

const scripts = join(dirname(fileURLToPath(import.meta.url)), 'scenarios');

/** A model that nobody answers for, and two that are set up. */
const MODELS = `
[models.deepseek]
model = "deepseek-v4-flash"
profile = "deepseek"
key = "env:DEEPSEEK_API_KEY"
[models.at-home]
model = "qwen3"
profile = "ollama"
base-url = "http://127.0.0.1:9/v1"
key = "none"
retries = 0
`;

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

async function imported(home, path) {
  const done = await crewagent(home, 'package', 'import', path);
  if (done.code !== 0) throw new Error(done.err);
}

/** A copy of an example with some of its text replaced. */
async function variant(folder, name, from, file, changes) {
  const path = join(folder, name);
  await cp(example(from), path, { recursive: true });
  let text = await readFile(join(path, file), 'utf8');
  for (const [before, after] of changes) text = text.replace(before, after);
  await writeFile(join(path, file), text);
  return path;
}

/** What the user of the guide says. */
const WORDS = {
  en: { wanted: 'A sign-up page for the repair café', before: 'February' },
  zh: { wanted: '维修咖啡馆的报名页面', before: '二月' },
};

/** With `isSteady` ids, times and folders are the same every time. The model of the guide speaks the language. */
export async function scene(options = {}) {
  const ends = [];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return { ...(await play(options, ends)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Sets everything up. What has to be ended is put into `ends`, so that nothing is left behind when a part of it fails. */
async function play({ isSteady = false, language = 'en' }, ends) {
  const place = await scratch();
  ends.push(place.remove);
  const { folder, home } = place;
  // Its name is shown.
  const demo = join(folder, 'demo-model');
  await cp(join(scripts, language === 'en' ? 'tour.yaml' : `tour.${language}.yaml`), demo);
  await useModel(home, `scripted:${demo}`, '', '', MODELS);
  for (const name of ['create-story-micro', 'hello-branch', 'nested-review', 'multi-workflows']) await imported(home, example(name));
  const lost = await variant(folder, 'team-intake', 'hello-branch', 'bmad.json', [['"hello-branch"', '"team-intake"']]);
  await imported(home, lost);
  const broken = await variant(folder, 'my-workflow', 'create-story-micro', 'workflow.graph.json', [
    ['"to": "step-04-generate-story"', '"to": "step-04-generate-storry"'],
    ['"type": "step"', '"type": "stepp"'],
  ]);
  const shop = await project(folder, 'acme-shop', '002-branch-greenfield');
  const story = await project(folder, 'story-book', '001-create-story-micro');
  const nested = await project(folder, 'release', '013-child-waits');
  const cafe = await project(folder, 'repair-cafe', '002-branch-greenfield');
  const orphan = await project(folder, 'orphan', '002-branch-greenfield');
  const blank = await project(folder, 'blank');
  const moved = await project(folder, 'moved-away');
  const rewrite = isSteady ? steady(folder, everything()) : undefined;
  const server = await serve(home, { rewrite });
  ends.push(() => server.kill());
  const chrome = await browser();
  ends.push(() => chrome.close());
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce' });
  if (isSteady) await context.clock.setFixedTime(NOW);
  const { tab, errors } = await page(context, server);
  const api = (method, path, body) => ask(tab, method, path, body);

  const open = async (path) => (await api('POST', '/api/projects', { path })).id;
  const status = async (run) => (await api('GET', `/api/runs/${run}`)).status;
  const rests = (run) => until(`run ${run} rests`, async () => !['running'].includes(await status(run)));
  const say = async (run, text) => {
    await api('POST', `/api/runs/${run}/say`, { text });
    await rests(run);
  };
  const start = async (body, ...answers) => {
    const run = (await api('POST', '/api/runs', body)).runId;
    await rests(run);
    for (const answer of answers) await say(run, answer);
    return run;
  };
  const ids = {};
  for (const [name, path] of Object.entries({ blank, moved, orphan, nested, story, shop, cafe })) ids[name] = await open(path);
  await rm(moved, { recursive: true });

  // A run that is complete, and one in a called workflow.
  ids.done = await start({ project: ids.story, package: 'create-story-micro', model: scenario('001-create-story-micro') }, '1-2-user-authentication');
  ids.called = await start({ project: ids.nested, package: 'nested-review', model: scenario('013-child-waits'), variables: { docPath: 'docs/lost.md' } });
  // One for every question.
  ids.asked = {};
  for (const [kind, answers] of Object.entries({
    choice: [],
    multi: ['greenfield'],
    confirm: ['greenfield', 'speed, cost'],
    form: ['greenfield', 'speed', 'yes'],
    text: ['greenfield', 'speed', 'yes', '{"name":"Repair","visitors":20}'],
    moved: ['greenfield', 'speed', 'yes', '{"name":"Repair","visitors":20}', 'A sign-up page for the repair cafe'],
  })) {
    ids.asked[kind] = await start({ project: ids.shop, package: 'hello-branch', model: own('every-question.yaml') }, ...answers);
  }
  // What went wrong: a limit is reached, no model answers, the package is gone.
  ids.limited = await start({ project: ids.shop, package: 'hello-branch', bounds: { maxTurns: 1 } });
  ids.failed = await start({ project: ids.shop, package: 'hello-branch', model: 'at-home' });
  ids.orphaned = await start({ project: ids.orphan, package: 'team-intake' });
  await api('DELETE', `/api/packages/${encodeURIComponent('team-intake@0.1.0')}?confirm=true`);
  // The runs of the guide. Each has a project of its own, so that one does not see the files of another.
  const tour = { package: 'hello-branch' };
  ids.words = WORDS[language];
  const facts = JSON.stringify({ ...ids.words, visitors: 40, free: true });
  ids.tour = {};
  for (const name of ['works', 'form', 'choice', 'done', 'approval']) {
    const path = name === 'approval' ? cafe : await project(folder, `${name}/repair-cafe`, '002-branch-greenfield');
    const place = name === 'approval' ? ids.cafe : await open(path);
    ids.tour[name] = { project: place };
    if (name === 'approval') await api('PATCH', '/api/settings', { key: 'policy.ask', value: ['fs.apply_patch(@project/README.md)'] });
    const answers = { works: [facts], form: [], choice: [facts], done: [facts, 'greenfield'], approval: [facts, 'greenfield'] }[name];
    ids.tour[name].run = await start({ ...tour, project: place }, ...answers);
    if (name === 'approval') await api('PATCH', '/api/settings', { key: 'policy.ask' });
  }
  // It speaks, and never ends.
  await api('POST', `/api/runs/${ids.tour.works.run}/say`, { text: 'brownfield' });
  // Conversations: with an agent, with one who has to ask what is meant, and with nobody in particular.
  const talk = async (body) => (await api('POST', '/api/conversations', body)).id;
  ids.talk = await talk({ project: ids.story, package: 'create-story-micro', agent: 'sm', model: scenario('001-create-story-micro') });
  ids.unsure = await talk({ project: ids.story, package: 'multi-workflows', agent: 'architect' });
  await api('POST', `/api/conversations/${ids.unsure}/say`, { text: 'review' });
  ids.chat = await talk({ project: ids.shop });
  await api('POST', `/api/conversations/${ids.chat}/say`, { text: 'What is in this project?' });
  await until('the chat rests', async () => !(await api('GET', `/api/conversations/${ids.chat}`)).atWork);

  // A run that rests is given back after a while, which is the last thing that is written about it.
  if (isSteady) {
    for (const run of [ids.done, ids.called, ids.limited, ...['form', 'choice', 'done', 'approval'].map((name) => ids.tour[name].run)]) {
      await until(`run ${run} is given back`, async () => (await api('GET', `/api/runs/${run}/events?after=0`)).events.at(-1).type === 'run.finished');
    }
  }
  // A store in which nothing is yet. Its cookie has another name, so one browser can have both.
  const fresh = await serve(join(folder, 'fresh'), { rewrite });
  ends.push(() => fresh.kill());
  await tab.goto(fresh.enter);
  ids.first = fresh.origin;

  /** How both pages look from here on. */
  const dress = async (prefs) => {
    for (const { origin } of [fresh, server]) {
      await tab.goto(origin);
      await tab.evaluate((text) => localStorage.setItem('crewagent.prefs', text), JSON.stringify(prefs));
    }
  };
  const visit = async (screen) => {
    await tab.goto(new URL(screen.at, server.origin).href);
    await settled(tab);
    await screen.then?.(tab);
    await settled(tab);
  };
  await tab.goto(server.origin);

  // MCP servers: one that works and is on, one that fails, one that is off and has a secret.
  const [command, ...args] = everything();
  const serverAt = (name) => `/api/mcp/servers/${name}`;
  await api('PATCH', '/api/settings', { key: 'policy.mcp.enabled', value: true });
  await api('PATCH', '/api/settings', { key: 'policy.ask', value: ['mcp.everything.echo', 'fs.write(@project/src)'] });
  await api('PUT', serverAt('everything'), { way: { kind: 'stdio', command, args }, enabled: true });
  await api('PUT', serverAt('broken'), { way: { kind: 'stdio', command, args: ['-e', 'console.error("no licence found, giving up"); process.exit(3)'] } });
  await api('PUT', serverAt('tracker'), { way: { kind: 'http', url: 'https://tracker.example/mcp', headers: [{ name: 'Authorization', value: 'Bearer ${TRACKER_TOKEN}' }] } });
  for (const name of ['everything', 'broken']) await api('POST', `${serverAt(name)}/test`, {});

  const shown = (path) => (rewrite ? rewrite.toPage(path, '') : path);
  return { ...place, server, chrome, context, tab, errors, api, say, rests, status, dress, visit, ids: { ...ids, broken: shown(broken), example: example('hello-branch') } };
}
