/** A store with something in every state, for pictures and for the accessibility checks. */

import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callApi, crewagent, DEADLINE, everythingCommand, example, goldenModel, goldenPackage, launchBrowser, logIn, makeProject, makeScratch, openPage, ownModel, serve, until, useModel, waitUntilStill } from './harness.mjs';
import { NOW, normalizer } from './normalize.mjs';

const scripts = join(dirname(fileURLToPath(import.meta.url)), 'scenarios');

/** A model that is only named, and one whose server is down. */
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

async function importPackage(home, path) {
  const done = await crewagent(home, 'package', 'import', path);
  if (done.code !== 0) throw new Error(done.err);
}

/** Makes a copy of an example with some of its text replaced. */
async function makeVariant(folder, name, from, file, changes) {
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

/** Opens the fixture. With `isNormalized` ids, times and folders are the same every time. The model of the guide speaks the language. */
export async function openScreensFixture(options = {}) {
  const closers = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return { ...(await build(options, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Builds everything, and adds what closes it to `closers`, so that nothing is left behind when a part of it fails. */
async function build({ isNormalized = false, language = 'en' }, closers) {
  const scratch = await makeScratch();
  closers.push(scratch.remove);
  const { folder, home } = scratch;
  // Its name is shown.
  const demo = join(folder, 'demo-model');
  await cp(join(scripts, language === 'en' ? 'tour.yaml' : `tour.${language}.yaml`), demo);
  await useModel(home, `scripted:${demo}`, '', '', MODELS);
  for (const name of ['create-story-micro', 'hello-branch', 'nested-review', 'multi-workflows']) await importPackage(home, example(name));
  const lost = await makeVariant(folder, 'team-intake', 'hello-branch', 'bmad.json', [['"hello-branch"', '"team-intake"']]);
  await importPackage(home, lost);
  await importPackage(home, goldenPackage('018-gates'));
  const broken = await makeVariant(folder, 'my-workflow', 'create-story-micro', 'workflow.graph.json', [
    ['"to": "step-04-generate-story"', '"to": "step-04-generate-storry"'],
    ['"type": "step"', '"type": "stepp"'],
  ]);
  const shop = await makeProject(folder, 'acme-shop', '002-branch-greenfield');
  const story = await makeProject(folder, 'story-book', '001-create-story-micro');
  const nested = await makeProject(folder, 'release', '013-child-waits');
  const cafe = await makeProject(folder, 'repair-cafe', '002-branch-greenfield');
  const ferry = await makeProject(folder, 'ferry', '018-gates');
  const orphan = await makeProject(folder, 'orphan', '002-branch-greenfield');
  const blank = await makeProject(folder, 'blank');
  const moved = await makeProject(folder, 'moved-away');
  const rewrite = isNormalized ? normalizer(folder, everythingCommand()) : undefined;
  const server = await serve(home, { rewrite });
  closers.push(() => server.kill());
  const chrome = await launchBrowser();
  closers.push(() => chrome.close());
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce' });
  context.setDefaultTimeout(DEADLINE);
  context.setDefaultNavigationTimeout(DEADLINE);
  if (isNormalized) await context.clock.setFixedTime(NOW);
  const cookie = await logIn(context, server);
  const { tab, errors } = await openPage(context);
  const api = (method, path, body) => callApi(server.origin, cookie, method, path, body);

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
  for (const [name, path] of Object.entries({ blank, moved, orphan, nested, story, shop, cafe, ferry })) ids[name] = await open(path);
  await rm(moved, { recursive: true });

  // A run that is complete, and one in a called workflow.
  ids.done = await start({ project: ids.story, package: 'create-story-micro', model: goldenModel('001-create-story-micro') }, '1-2-user-authentication');
  ids.called = await start({ project: ids.nested, package: 'nested-review', model: goldenModel('013-child-waits'), variables: { docPath: 'docs/lost.md' } });
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
    ids.asked[kind] = await start({ project: ids.shop, package: 'hello-branch', model: ownModel('every-question.yaml') }, ...answers);
  }
  // A gate that waits, and one that was answered.
  const gates = { project: ids.ferry, package: 'gated-brief', model: goldenModel('018-gates') };
  ids.gates = { open: await start(gates), chosen: await start(gates, 'A') };
  // What went wrong: a limit is reached, no model answers, the package is gone.
  ids.limited = await start({ project: ids.shop, package: 'hello-branch', bounds: { maxTurns: 1 } });
  ids.failed = await start({ project: ids.shop, package: 'hello-branch', model: 'at-home' });
  ids.orphaned = await start({ project: ids.orphan, package: 'team-intake' });
  await api('DELETE', `/api/packages/${encodeURIComponent('team-intake@0.1.0')}?confirm=true`);
  // The runs of the guide. Each has a project of its own, so that one does not see the files of another.
  const tour = { package: 'hello-branch' };
  ids.words = WORDS[language];
  const form = JSON.stringify({ ...ids.words, visitors: 40, free: true });
  ids.tour = {};
  for (const name of ['works', 'form', 'choice', 'done', 'approval']) {
    const path = name === 'approval' ? cafe : await makeProject(folder, `${name}/repair-cafe`, '002-branch-greenfield');
    const id = name === 'approval' ? ids.cafe : await open(path);
    ids.tour[name] = { project: id };
    if (name === 'approval') await api('PATCH', '/api/settings', { key: 'policy.ask', value: ['fs.apply_patch(@project/README.md)'] });
    const answers = { works: [form], form: [], choice: [form], done: [form, 'greenfield'], approval: [form, 'greenfield'] }[name];
    ids.tour[name].run = await start({ ...tour, project: id }, ...answers);
    if (name === 'approval') await api('PATCH', '/api/settings', { key: 'policy.ask' });
  }
  // It speaks, and never ends.
  await api('POST', `/api/runs/${ids.tour.works.run}/say`, { text: 'brownfield' });
  // Conversations: with an agent, with one who has to ask what is meant, and a chat.
  const converse = async (body) => (await api('POST', '/api/conversations', body)).id;
  ids.conversation = await converse({ project: ids.story, package: 'create-story-micro', agent: 'sm', model: goldenModel('001-create-story-micro') });
  ids.unsure = await converse({ project: ids.story, package: 'multi-workflows', agent: 'architect' });
  await api('POST', `/api/conversations/${ids.unsure}/say`, { text: 'review' });
  ids.chat = await converse({ project: ids.shop });
  await api('POST', `/api/conversations/${ids.chat}/say`, { text: 'What is in this project?' });
  await until('the chat rests', async () => !(await api('GET', `/api/conversations/${ids.chat}`)).atWork);

  // The server gives an idle run back after a while, which is the last event of it.
  if (isNormalized) {
    for (const run of [ids.done, ids.called, ids.limited, ...['form', 'choice', 'done', 'approval'].map((name) => ids.tour[name].run)]) {
      await until(`run ${run} is given back`, async () => (await api('GET', `/api/runs/${run}/events?after=0`)).events.at(-1).type === 'run.finished');
    }
  }
  // A store in which nothing is yet. Its cookie has another name, so one browser can have both.
  const fresh = await serve(join(folder, 'fresh'), { rewrite });
  closers.push(() => fresh.kill());
  await tab.goto(fresh.enter);
  ids.first = fresh.origin;

  /** Sets how both servers' pages look from here on. */
  const setPreferences = async (prefs) => {
    for (const { origin } of [fresh, server]) {
      await tab.goto(origin);
      await tab.evaluate((text) => localStorage.setItem('crewagent.prefs', text), JSON.stringify(prefs));
    }
  };
  /** Shows a screen in the state that is looked at. */
  const showScreen = async (screen, on = tab, quietFrames = undefined) => {
    await on.goto(new URL(screen.at, server.origin).href);
    await waitUntilStill(on, quietFrames);
    if (!screen.then) return;
    await screen.then(on);
    await waitUntilStill(on, quietFrames);
  };
  await tab.goto(server.origin);

  // MCP servers: one that works and is on, one that fails, one that is off and has a secret.
  const [command, ...args] = everythingCommand();
  const serverAt = (name) => `/api/mcp/servers/${name}`;
  await api('PATCH', '/api/settings', { key: 'policy.mcp.enabled', value: true });
  await api('PATCH', '/api/settings', { key: 'policy.ask', value: ['mcp.everything.echo', 'fs.write(@project/src)'] });
  await api('PUT', serverAt('everything'), { way: { kind: 'stdio', command, args }, enabled: true });
  await api('PUT', serverAt('broken'), { way: { kind: 'stdio', command, args: ['-e', 'console.error("no licence found, giving up"); process.exit(3)'] } });
  await api('PUT', serverAt('tracker'), { way: { kind: 'http', url: 'https://tracker.example/mcp', headers: [{ name: 'Authorization', value: 'Bearer ${TRACKER_TOKEN}' }] } });
  for (const name of ['everything', 'broken']) await api('POST', `${serverAt(name)}/test`, {});

  const shown = (path) => (rewrite ? rewrite.toPage(path, '') : path);
  return { ...scratch, server, chrome, context, tab, errors, api, setPreferences, showScreen, ids: { ...ids, broken: shown(broken), example: example('hello-branch') } };
}
