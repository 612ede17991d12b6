/** Faults around the app: it says what happened, why and what to do, and continues once the user has done it. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { withFixture, withProvider } from './fixture.mjs';
import { crewagent, eventually, example, makeScratch, repository, until, waitUntilStill } from './harness.mjs';
import { startProvider } from './provider.mjs';

/** Asks, writes what was answered, and ends its turn. */
const asksAndWrites = (content) => ({
  nodes: {
    'step-01-intake': [
      { say: 'First a question.', calls: [{ 'ui.ask_user': { question: 'What shall it do?' } }] },
      { say: 'I write it down.', calls: [{ 'fs.write': { path: '@project/artifacts/intake.md', content } }] },
      { any: [{ when: { answers: 'ok' }, say: 'It is written. What else?' }, { say: 'It could not be written. What else?' }], times: 20 },
    ],
  },
});
const ASKS = asksAndWrites('# Intake\n\n{{input}}\n');
const ANSWER = 'Repair things';

/** Reads all text of the page. */
const readPage = (tab) => tab.locator('body').innerText();
const untilFull = (tab) => until('the page says that the disk is full', async () => /no room|disk is full|no space/i.test(await readPage(tab)));

/** Opens a run of the project that waits for its answer. */
async function openWaitingRun(fixture, id) {
  const run = await fixture.startRun(id);
  await fixture.showRun(id, run);
  await fixture.tab.getByText('What shall it do?').first().waitFor();
  await fixture.pill('waiting').waitFor();
  return run;
}

/** Makes a test of a run that waits for its answer, in view. */
const withWaitingRun = (body, options = {}) =>
  withFixture({ model: ASKS, ...options }, async (fixture) => {
    const shop = await fixture.project('shop', { 'README.md': '# Shop\n' });
    const run = await openWaitingRun(fixture, shop.id);
    await body({ ...fixture, shop, run, written: fixture.log.getByText('It is written.') });
  });

/** Loads the page of a run that no worker holds, as after a night. It has nothing left to ask of the server when this returns. */
async function reload(tab) {
  await tab.reload();
  await tab.getByText('Connected', { exact: true }).waitFor();
  await waitUntilStill(tab);
}

describe('things that are lost', () => {
  it('a project whose folder moves while its run is open says so, and goes on where it was located', withWaitingRun(async ({ tab, shop, run, field, send, untilReleased, written }) => {
    // A page that still hears of its run could find out before the user sends anything.
    await untilReleased(run);
    await reload(tab);
    const away = `${shop.path}-away`;
    await rename(shop.path, away);
    await send(ANSWER);
    const card = tab.getByRole('alert').filter({ hasText: 'The folder is not there any more.' });
    await card.getByText(/moved, renamed or removed/).waitFor();
    await card.getByRole('button', { name: 'Locate' }).click();
    await tab.getByRole('dialog').getByLabel('Folder', { exact: true }).fill(away);
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    await card.waitFor({ state: 'hidden' });
    await field.waitFor();
    await send(ANSWER);
    await written.waitFor();
    assert.ok(existsSync(join(away, 'artifacts/intake.md')));
  }));

  it('a project whose folder moves and comes back is alerted of, and then is not', withWaitingRun(async ({ tab, go, shop }) => {
    await rename(shop.path, `${shop.path}-away`);
    await go('project', shop.id);
    const alert = tab.getByRole('alert');
    await alert.getByText(/not there/).waitFor();
    await alert.getByRole('button', { name: 'Locate' }).waitFor();
    await rename(`${shop.path}-away`, shop.path);
    await tab.evaluate(() => dispatchEvent(new Event('focus')));
    await alert.waitFor({ state: 'hidden' });
    await tab.getByRole('link', { name: /hello-branch/ }).first().waitFor();
  }));

  it('a package that is removed while a run needs it blocks the run, until it is imported again', withWaitingRun(async ({ tab, api, log, run, send, untilReleased, written }) => {
    await untilReleased(run);
    await reload(tab);
    assert.equal((await api('DELETE', '/api/packages/hello-branch%400.1.0?confirm=true')).removed, true);
    await send(ANSWER);
    const card = tab.getByRole('alert').filter({ hasText: 'The package is missing' });
    await card.getByText(/hello-branch/).first().waitFor();
    // What happened so far can be read, and searched.
    await log.getByRole('button').first().click({ trial: true });
    await card.getByRole('button', { name: 'Import again' }).click();
    await tab.getByLabel('File or folder on this computer').fill(example('hello-branch'));
    await tab.keyboard.press('Enter');
    await tab.getByRole('button', { name: 'Import', exact: true }).click();
    // It goes back to where it was needed.
    await tab.waitForURL((url) => url.pathname.endsWith(run));
    await card.waitFor({ state: 'hidden' });
    await send(ANSWER);
    await written.waitFor();
  }));

  it('a package that another process removes is missed, and is not when it is back', withWaitingRun(async ({ tab, home, run, send, untilReleased }) => {
    await untilReleased(run);
    await reload(tab);
    const gone = await crewagent(home, 'package', 'rm', 'hello-branch', '--yes', '--force');
    assert.equal(gone.code, 0, gone.err);
    await send(ANSWER);
    const card = tab.getByRole('alert').filter({ hasText: 'The package is missing' });
    await card.waitFor();
    assert.equal((await crewagent(home, 'package', 'import', example('hello-branch'))).code, 0);
    await tab.evaluate(() => dispatchEvent(new Event('focus')));
    await card.waitFor({ state: 'hidden' });
  }));
});

/** Asserts that a part has text of the page, and below it that of the server, marked as English. */
async function assertBoth(part, chinese, english) {
  const theirs = part.locator('[lang=en]').first();
  await theirs.waitFor();
  await eventually(async () => {
    const text = await part.innerText();
    assert.match(text, chinese);
    assert.match(await theirs.innerText(), english);
    assert.ok(text.search(chinese) < text.search(english), text);
  });
}

/** Makes a test of a page in Chinese. */
const inChinese = (body) =>
  withFixture({ model: { nodes: { 'step-01-intake': [{ say: 'I look.', calls: [{ 'fs.read': { path: '@project/none.md' } }], times: 9 }] } } }, async (fixture) => {
    await fixture.context.addInitScript(() => localStorage.setItem('crewagent.prefs', JSON.stringify({ language: 'zh' })));
    await body(fixture);
  });

describe('in Chinese, what the server says in English has text of the page before it', () => {
  it('a fault in its place', inChinese(async ({ tab, go }) => {
    await go('project/nope');
    // The server's own sentence is known, so the page needs no English.
    await tab.locator('.fault strong').getByText('没有项目 nope。').waitFor();
  }));

  it('a fault in a dialog', inChinese(async ({ tab, go, folder }) => {
    await go('settings/packages');
    await tab.getByRole('button', { name: '新建包' }).click();
    await tab.getByRole('textbox', { name: '将创建的文件夹' }).fill(folder);
    await tab.getByRole('button', { name: '创建包', exact: true }).click();
    await assertBoth(tab.locator('dialog .fault'), /^无法执行此操作/, /empty/);
  }));

  it('a fault in the corner', inChinese(async ({ tab, go }) => {
    await go('settings/runs');
    const field = tab.locator('[id="set-run.max-turns"]');
    await field.fill('-1');
    await field.press('Tab');
    await assertBoth(tab.locator('.toast.err'), /^请求无效/, /max-turns/);
  }));

  it('findings in a package', inChinese(async ({ tab, go }) => {
    await go('import');
    const path = tab.getByRole('textbox', { name: '本机上的文件或文件夹' });
    await path.fill(join(repository, 'tests/packages/bad/BM505-bad-condition/package'));
    await path.press('Enter');
    await assertBoth(tab.locator('.finding'), /conditionExpr 不是有效的 JSONLogic/, /"equals" is not a JSONLogic operator/);
  }));

  it('the step at which a connection fails', inChinese(async ({ tab, api, go }) => {
    const server = createServer();
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address();
    await new Promise((done) => server.close(done));
    await api('PUT', '/api/models/mine', { model: 'm', profile: 'generic', baseUrl: `http://127.0.0.1:${port}/v1`, key: 'none' });
    await go('settings/models');
    await tab.getByRole('button', { name: '测试连接' }).click();
    await assertBoth(tab.locator('li.failed'), /无法连接服务器/, /takes no connection/);
    // A screen reader hears it, too.
    await tab.locator('[aria-live=polite]').getByText('mine 不可用。').waitFor({ state: 'attached' });
  }));

  it('why a call was refused, and why a run waits', inChinese(async ({ tab, go, project, startRun, showRun }) => {
    const shop = await project('shop', { 'README.md': 'x' });
    await showRun(shop.id, await startRun(shop.id, { bounds: { maxTurns: 1 } }));
    await tab.locator('.tool .head').click();
    await assertBoth(tab.locator('.tool .why'), /找不到该文件或文件夹/, /There is no @project\/none\.md/);
    await assertBoth(tab.locator('[role=log] .halt'), /已达到单次输入的轮数上限/, /The model was asked/);
    await tab.getByRole('tab', { name: '日志' }).click();
    await tab.getByRole('region', { name: '运行事件' }).getByText(/^等待你的输入 · 已达到单次输入的轮数上限/).waitFor();
    await go('project', shop.id, 'runs');
    await assertBoth(tab.locator('main .run'), /已达到单次输入的轮数上限/, /The model was asked/);
  }));

  it('why the model of the settings cannot be used', inChinese(async ({ tab, api, go, project }) => {
    await api('PATCH', '/api/settings', { key: 'run.model', value: 'nowhere' });
    const shop = await project('shop');
    await go('project', shop.id, 'launch?package=hello-branch');
    await assertBoth(tab.locator('form [role=alert]'), /这个模型目前无法使用/, /nowhere/);
  }));
});

describe('a provider that dies in mid-reply', () => {
  it('is reported with what had come, and Resume goes on when it is back', withProvider(async ({ tab, log, pill, provider, project, startRun, showRun }) => {
    const shop = await project('shop', { 'README.md': 'x' });
    await showRun(shop.id, await startRun(shop.id));
    (await provider.nextRequest()).say('Once upon a time');
    await log.getByText('Once upon a time').first().waitFor();
    provider.close();
    await pill('failed').waitFor();
    const faults = log.locator('.fault');
    await eventually(async () => {
      const text = (await faults.last().textContent()) ?? '';
      assert.match(text, /connect|connection|answer/i, 'what happened');
      assert.match(text, /settings|resume/i, 'what to do');
    });
    // Still down: the same again, and nothing is lost.
    const known = await faults.count();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await until('it failed again', async () => (await faults.count()) > known);
    await pill('failed').waitFor();
    const back = await startProvider(provider.port);
    try {
      await tab.getByRole('button', { name: 'Resume' }).first().click();
      (await back.nextRequest()).end('Once upon a time there was a plan. And now?');
      await log.getByText('Once upon a time there was a plan. And now?').waitFor();
      await pill('waiting').waitFor();
    } finally {
      back.close();
    }
  }));
});

const canMount = process.platform === 'linux' && spawnSync('unshare', ['-rm', 'true']).status === 0;
/** Starts a program with a small disk of its own at a folder; others reach it through the process. */
const smallDisk = (folder, size) => ['unshare', '-rm', 'sh', '-c', 'mount -t tmpfs -o size="$1" tmpfs "$0" && shift && exec "$@"', folder, size];
const readOnly = (folder) => ['unshare', '-rm', 'sh', '-c', 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', folder];

/** Makes a test with a folder that the server sees in its own way. `mount` returns the options of the fixture. */
const withMount = (name, mount, body) => async (t) => {
  const scratch = await makeScratch();
  try {
    const folder = join(scratch.folder, name);
    await mkdir(folder);
    await withFixture(mount(folder), (fixture) => body(fixture, folder, `/proc/${fixture.server.pid()}/root${folder}`))(t);
  } finally {
    await scratch.remove();
  }
};

/** Fills a disk; returns the file to remove for room. */
function fillDisk(folder) {
  const ballast = join(folder, 'ballast');
  assert.throws(() => writeFileSync(ballast, Buffer.alloc(4 << 20)), /ENOSPC/);
  return ballast;
}

describe('a disk that is full', { skip: !canMount && 'a small disk cannot be mounted here' }, () => {
  const BIG = asksAndWrites('{{repeat:many words :60000}}');

  it('under the project: the run says so, nothing is half written, and it goes on when there is room', withMount('disk', (disk) => ({ model: BIG, server: { under: smallDisk(disk, '2m') }, allowedErrors: /status of [45]\d\d/ }), async (fixture, disk, inside) => {
    const { tab, api, log, send } = fixture;
    const { id } = await api('POST', '/api/projects', { path: disk });
    await openWaitingRun(fixture, id);
    const ballast = fillDisk(inside);
    await send(ANSWER);
    await untilFull(tab);
    assert.ok(!existsSync(join(inside, 'artifacts/intake.md')), 'nothing is half written');
    await rm(ballast);
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await log.getByText('It is written.').waitFor();
    assert.equal(statSync(join(inside, 'artifacts/intake.md')).size, 'many words '.length * 60_000);
  }));

  it('under the store: the run stops with the reason, the page stays, and Resume goes on', withMount('home', (home) => ({ model: ASKS, home, packages: [], server: { under: smallDisk(home, '2m') }, allowedErrors: /status of [45]\d\d/ }), async (fixture, home, inside) => {
    const { tab, api, log, field, send } = fixture;
    // The settings that the fixture wrote are below the small disk.
    writeFileSync(join(inside, 'config.toml'), `[run]\nmodel = ${JSON.stringify(`scripted:${join(fixture.folder, 'model.yaml')}`)}\n`);
    await fixture.importPackage(example('hello-branch'));
    const shop = await fixture.project('shop');
    const run = await openWaitingRun(fixture, shop.id);
    const ballast = fillDisk(inside);
    await send(ANSWER);
    await untilFull(tab);
    assert.match(await readPage(tab), /free|space|room/i, 'it says what to do');
    await rm(ballast);
    // A message that was not taken is still in the field; a run that stopped can be resumed.
    const resume = tab.getByRole('button', { name: 'Resume' }).first();
    await until('there is a way on', async () => (await field.inputValue()) !== '' || (await resume.count()) > 0);
    if ((await field.inputValue()) !== '') await field.press('Enter');
    else await resume.click();
    await log.getByText('It is written.').waitFor();
    assert.ok(existsSync(join(shop.path, 'artifacts/intake.md')));
    assert.equal((await api('GET', `/api/runs/${run}`)).troubles, undefined);
  }));

  it('a project that cannot be written to: the call is refused with the reason', withMount('locked', (folder) => ({ model: ASKS, server: { under: readOnly(folder) } }), async (fixture, folder) => {
    const { id } = await fixture.api('POST', '/api/projects', { path: folder });
    await openWaitingRun(fixture, id);
    await fixture.send(ANSWER);
    await until('it is reported', async () => /read-only|not allow|permission/i.test(await readPage(fixture.tab)));
  }));
});

describe('a clock that jumps', () => {
  const FAKETIME = [process.env.CREWAGENT_FAKETIME, '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'].find((file) => file && existsSync(file));
  /** Times that make no sense to a reader. */
  const absurd = /-\d+(\.\d+)? s\b|-\d+:\d\d|\bin \d+ (hr|min|day|sec)|NaN|Invalid|1970|\d{3,}:\d\d:\d\d/;

  async function assertSensibleTimes({ tab, go }, id, run) {
    for (const at of [`project/${id}`, `project/${id}/runs`, `project/${id}/run/${run}`]) {
      await go(at);
      await tab.locator('main').getByText(/hello-branch|shop|What shall it do/).first().waitFor();
      assert.doesNotMatch(await readPage(tab), absurd, at);
    }
    await tab.getByRole('tab', { name: 'Log' }).click();
    await tab.getByRole('region', { name: 'Events' }).getByRole('button').first().waitFor();
    assert.doesNotMatch(await readPage(tab), absurd, 'log');
  }

  for (const hours of [-7, 9]) {
    it(`in the browser, by ${hours} hours: ages and spans stay sensible`, withWaitingRun(async (fixture) => {
      await fixture.send(ANSWER);
      await fixture.written.waitFor();
      await fixture.context.clock.install({ time: Date.now() + hours * 3_600_000 });
      await fixture.context.clock.resume();
      await assertSensibleTimes(fixture, fixture.shop.id, fixture.run);
    }));
  }

  it('of the computer, back in the middle of a run', { skip: !FAKETIME && 'libfaketime is not installed' }, async (t) => {
    const scratch = await makeScratch();
    const file = join(scratch.folder, 'time');
    writeFileSync(file, '+0');
    const env = { LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' };
    const body = async (fixture) => {
      writeFileSync(file, '-5h');
      await fixture.send(ANSWER);
      await fixture.written.waitFor();
      const times = (await fixture.events('runs', fixture.run)).map((event) => event.time);
      assert.ok(times.some((time, at) => at > 0 && time < times[at - 1]), 'the clock did jump');
      await assertSensibleTimes(fixture, fixture.shop.id, fixture.run);
    };
    try {
      await withWaitingRun(body, { server: { env } })(t);
    } finally {
      await scratch.remove();
    }
  });
});
