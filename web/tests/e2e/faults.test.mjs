/** Things that go wrong around the app: it says what happened, why and what to do, and goes on when that was done. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { desk } from './fixture.mjs';
import { crewagent, example, repository, scratch, settled } from './harness.mjs';
import { until } from './screens-fixture.mjs';

const ASKS = JSON.stringify({
  scenario: 'hello-branch, which asks, writes and ends its step',
  nodes: {
    'step-01-intake': [
      { say: 'First a question.', calls: [{ 'ui.ask_user': { question: 'What shall it do?' } }] },
      { say: 'I write it down.', calls: [{ 'fs.write': { path: '@project/artifacts/intake.md', content: '# Intake\n\n{{input}}\n' } }] },
      { any: [{ when: { answers: 'ok' }, say: 'It is written.' }, { say: 'It could not be written.' }], times: 20 },
    ],
  },
});

/** What the page says in words, wherever it says it. */
const words = (tab) => tab.locator('body').innerText();

async function answer(tab, text = 'Repair things') {
  const field = tab.getByRole('textbox', { name: 'Message' });
  await field.fill(text);
  await field.press('Enter');
}

/** A run that waits for its answer, in view. */
async function waiting(set, name) {
  const project = await set.project(name, { 'README.md': '# Shop\n' });
  const run = await set.run(project.id, 'hello-branch');
  await set.show(project.id, run);
  await set.tab.getByText('What shall it do?').first().waitFor();
  await settled(set.tab);
  return { ...project, run };
}

describe('bad input and lost things', () => {
  let set, tab;
  before(async () => {
    set = await desk({ model: ASKS });
    ({ tab } = set);
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
  });
  after(() => set?.close());

  it('a corrupt package that is dropped on the first page is told about, and nothing is kept', async () => {
    await tab.goto(set.server.origin);
    await tab.locator('main .scroll').waitFor();
    const before = (await set.api('GET', '/api/packages')).packages.length;
    for (const [name, bytes, said] of [
      ['torn.bmad', [0x50, 0x4b, 3, 4, 1, 2, 3], /cannot be imported/],
      ['empty.bmad', [], /cannot be imported/],
      ['note.txt', [104, 105], /cannot be imported/],
    ]) {
      await tab.goto(set.server.origin);
      await tab.locator('main .scroll').evaluate(
        (zone, [title, data]) => {
          const carried = new DataTransfer();
          carried.items.add(new File([new Uint8Array(data)], title));
          for (const kind of ['dragover', 'drop']) zone.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
        },
        [name, bytes],
      );
      await tab.getByText(said).first().waitFor();
      assert.equal(await tab.getByRole('heading', { name }).count(), 1, 'it says which file');
      const finding = tab.locator('.finding').first();
      assert.match((await finding.textContent()) ?? '', /BM1\d\d/);
      assert.ok(((await finding.locator('p').first().textContent()) ?? '').length > 15);
    }
    assert.equal((await set.api('GET', '/api/packages')).packages.length, before);
  });

  it('a project whose folder is deleted while it is open says so, and goes on when it is back', async () => {
    const { path, id } = await waiting(set, 'shop');
    await rename(path, `${path}-away`);
    await answer(tab);
    const card = tab.getByRole('alertdialog', { name: 'The folder is not there any more.' });
    await card.getByText(/moved, renamed or removed/).waitFor();
    await card.getByRole('button', { name: 'Locate' }).click();
    await tab.getByRole('dialog').getByLabel('Folder', { exact: true }).fill(`${path}-away`);
    await tab.getByRole('button', { name: 'Choose this folder' }).click();
    await card.waitFor({ state: 'hidden' });
    await tab.getByRole('textbox', { name: 'Message' }).waitFor();
    // It moves once more, while nobody looks at a run.
    await rename(`${path}-away`, path);
    // Where the project is looked at, too.
    await tab.goto(`${set.server.origin}/project/${id}`);
    await tab.getByRole('alert').getByText(/not there/).waitFor();
    await tab.getByRole('alert').getByRole('button', { name: 'Locate' }).waitFor();
    await rename(path, `${path}-away`);
    await tab.evaluate(() => dispatchEvent(new Event('focus')));
    await tab.getByRole('alert').waitFor({ state: 'hidden' });
    await tab.getByRole('link', { name: /hello-branch/ }).first().waitFor();
    assert.equal(await tab.getByRole('alert').count(), 0);
    await tab.locator('.way').first().click();
    await answer(tab, 'Repair things again');
    await tab.getByRole('log').getByText('It is written.').waitFor();
    assert.ok(existsSync(join(`${path}-away`, 'artifacts/intake.md')));
  });

  it('a package that is removed while a run needs it blocks the run, until it is imported again', async () => {
    const { run } = await waiting(set, 'other');
    // Nobody has it in hand any more, as after a night.
    await until('it is left', async () => (await set.api('GET', `/api/runs/${run}/events?after=0`)).events.some((event) => event.type === 'run.finished'));
    assert.equal((await set.api('DELETE', '/api/packages/hello-branch%400.1.0?confirm=true')).removed, true);
    await answer(tab);
    const card = tab.getByRole('alertdialog', { name: 'The package is missing' });
    await card.waitFor();
    assert.match((await card.textContent()) ?? '', /hello-branch/);
    await card.getByRole('button', { name: 'Return to Start' }).waitFor();
    await card.getByRole('button', { name: 'Import again' }).click();
    await tab.getByLabel('File or folder on this computer').fill(example('hello-branch'));
    await tab.keyboard.press('Enter');
    await tab.getByRole('button', { name: 'Import', exact: true }).click();
    // It goes back to where it was needed.
    await until('the run is there again', () => tab.url().endsWith(run));
    assert.equal(await card.count(), 0);
    await answer(tab);
    await tab.getByRole('log').getByText('It is written.').waitFor();
  });

  it('a package that another process removes is missed without a click', async () => {
    const { run } = await waiting(set, 'third');
    await until('it is left', async () => (await set.api('GET', `/api/runs/${run}/events?after=0`)).events.some((event) => event.type === 'run.finished'));
    const gone = await crewagent(set.home, 'package', 'rm', 'hello-branch', '--yes');
    assert.equal(gone.code, 0, gone.err);
    await answer(tab);
    const card = tab.getByRole('alertdialog', { name: 'The package is missing' });
    await card.waitFor();
    assert.equal((await crewagent(set.home, 'package', 'import', example('hello-branch'))).code, 0);
    await tab.evaluate(() => dispatchEvent(new Event('focus')));
    await card.waitFor({ state: 'hidden' });
  });
});

describe('in Chinese, what the server says in English', () => {
  let set, tab;
  before(async () => {
    const scenario = { scenario: 'hello-branch, which reads what is not there', nodes: { 'step-01-intake': [{ say: 'I look.', calls: [{ 'fs.read': { path: '@project/none.md' } }], times: 9 }] } };
    set = await desk({ model: JSON.stringify(scenario) });
    ({ tab } = set);
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
    await tab.evaluate(() => localStorage.setItem('crewagent.prefs', JSON.stringify({ language: 'zh' })));
  });
  after(() => set?.close());

  /** Words of the page, and below them those of the server, marked as English. */
  async function both(part, chinese, english) {
    const theirs = part.locator('[lang=en]').first();
    await theirs.waitFor();
    const text = await part.innerText();
    assert.match(text, chinese);
    assert.match(await theirs.innerText(), english);
    assert.ok(text.search(chinese) < text.search(english), text);
  }

  it('has words of the page before it: a fault, in its place and in the corner', async () => {
    await tab.goto(`${set.server.origin}/project/nope`);
    await both(tab.locator('.fault strong'), /^找不到所需的内容/, /There is no project nope/);
    await tab.goto(`${set.server.origin}/settings/packages`);
    await tab.getByRole('button', { name: '新建包' }).click();
    await tab.getByRole('textbox', { name: '将创建的文件夹' }).fill(set.folder);
    await tab.getByRole('button', { name: '创建', exact: true }).click();
    await both(tab.locator('dialog .fault'), /^无法执行此操作/, /empty/);
    await tab.goto(`${set.server.origin}/settings/runs`);
    await tab.locator('[id="set-run.max-turns"]').fill('-1');
    await tab.locator('[id="set-run.max-turns"]').press('Tab');
    await both(tab.locator('.toast.err'), /^请求无效/, /max-turns/);
  });

  it('has words of the page before it: findings in a package', async () => {
    await tab.goto(`${set.server.origin}/import`);
    const path = tab.getByRole('textbox', { name: '本机上的文件或文件夹' });
    await path.fill(join(repository, 'tests/packages/bad/BM505-bad-condition/package'));
    await path.press('Enter');
    await both(tab.locator('.finding'), /conditionExpr 不是有效的 JSONLogic/, /"equals" is not a JSONLogic operator/);
  });

  it('has words of the page before it: the step at which a connection fails', async () => {
    const server = createServer();
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address();
    await new Promise((done) => server.close(done));
    await set.api('PUT', '/api/models/mine', { model: 'm', profile: 'generic', baseUrl: `http://127.0.0.1:${port}/v1`, key: 'none' });
    await tab.goto(`${set.server.origin}/settings/models`);
    await tab.getByRole('button', { name: '测试连接' }).click();
    await both(tab.locator('li.failed'), /无法连接服务器/, /takes no connection/);
    // It is heard, too.
    await tab.locator('[aria-live=polite]').getByText('mine 不可用。').waitFor({ state: 'attached' });
  });

  it('has words of the page before it: what a call was refused for, and why a run waits', async () => {
    const shop = await set.project('shop', { 'README.md': 'x' });
    await set.show(shop.id, await set.run(shop.id, 'hello-branch', { bounds: { maxTurns: 1 } }));
    await both(tab.locator('.tool .why'), /找不到该文件或文件夹/, /There is no @project\/none\.md/);
    await both(tab.locator('[role=log] .note').last(), /已达到单次输入的轮数上限/, /The model was asked/);
    await tab.getByRole('tab', { name: '日志' }).click();
    await tab.getByRole('region', { name: '运行事件' }).getByText(/^等待你的输入 · 已达到单次输入的轮数上限/).waitFor();
    await tab.goto(`${set.server.origin}/project/${shop.id}/runs`);
    await both(tab.locator('main .run'), /已达到单次输入的轮数上限/, /The model was asked/);
  });

  it('has words of the page before it: why the model of the settings cannot be used', async () => {
    await set.api('PATCH', '/api/settings', { key: 'run.model', value: 'nowhere' });
    const { id } = await set.project('other');
    await tab.goto(`${set.server.origin}/project/${id}/launch?package=hello-branch`);
    await both(tab.locator('form [role=alert]'), /这个模型目前无法使用/, /nowhere/);
  });
});

describe('a provider that dies in mid-reply', () => {
  let set, provider, port, isWell;
  before(async () => {
    set = await desk();
    await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
    await open(0);
    port = provider.address().port;
    await writeFile(join(set.home, 'config.toml'), `[run]\nmodel = "mine"\n[models.mine]\nmodel = "m"\nprofile = "generic"\nbase-url = "http://127.0.0.1:${port}/v1"\nkey = "none"\nretries = 1\n`);
  });
  after(async () => {
    await set?.close();
    provider?.closeAllConnections();
    provider?.close();
  });

  async function open(at) {
    provider = createServer((incoming, outgoing) => {
      incoming.resume();
      incoming.on('end', () => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        const tell = (delta, finish) => outgoing.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish ?? null }] })}\n\n`);
        tell({ role: 'assistant', content: 'Once upon a time' });
        if (isWell) {
          tell({ content: ' there was a plan.' });
          tell({}, 'stop');
          outgoing.end('data: [DONE]\n\n');
        }
      });
    });
    await new Promise((done, fail) => provider.once('error', fail).listen(at, '127.0.0.1', done));
  }

  it('is told about with what had come, and Resume goes on when it is back', async () => {
    const { tab } = set;
    const shop = await set.project('shop', { 'README.md': 'x' });
    const run = await set.run(shop.id, 'hello-branch');
    await set.show(shop.id, run);
    await tab.getByText('Once upon a time').first().waitFor();
    provider.close();
    provider.closeAllConnections();
    await tab.locator('header .pill.failed').waitFor();
    const faults = tab.locator('[role=log] .fault');
    const text = (await faults.last().textContent()) ?? '';
    assert.match(text, /connect|connection|answer/i, 'what happened');
    assert.match(text, /settings|resume/i, 'what to do');
    // Still down: the same again, and nothing is lost.
    const known = await faults.count();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await until('it failed again', async () => (await faults.count()) > known);
    await tab.locator('header .pill.failed').waitFor();
    isWell = true;
    await open(port);
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await tab.getByRole('log').getByText('Once upon a time there was a plan.').waitFor();
    await tab.locator('header .pill.waiting').waitFor();
  });
});

const canMount = process.platform === 'linux' && spawnSync('unshare', ['-rm', 'true']).status === 0;
/** Starts a program with a small disk of its own at a folder; others reach it through the process. */
const smallDisk = (folder, size) => ['unshare', '-rm', 'sh', '-c', 'mount -t tmpfs -o size="$1" tmpfs "$0" && shift && exec "$@"', folder, size];
const readOnly = (folder) => ['unshare', '-rm', 'sh', '-c', 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"', folder];

describe('a disk that is full', { skip: !canMount && 'a small disk cannot be mounted here' }, () => {
  let place;
  before(async () => (place = await scratch()));
  after(() => place?.remove());
  const BIG = JSON.stringify({
    scenario: 'hello-branch, which writes much',
    nodes: {
      'step-01-intake': [
        { say: 'First a question.', calls: [{ 'ui.ask_user': { question: 'What shall it do?' } }] },
        { say: 'I write it down.', calls: [{ 'fs.write': { path: '@project/artifacts/intake.md', content: '{{repeat:many words :60000}}' } }] },
        { any: [{ when: { answers: 'ok' }, say: 'It is written.' }, { say: 'It could not be written.' }], times: 20 },
      ],
    },
  });

  it('under the project: the run says so, nothing is half written, and it goes on when there is room', async () => {
    const disk = join(place.folder, 'disk');
    await mkdir(disk);
    const set = await desk({ model: BIG, server: { under: smallDisk(disk, '2m') } });
    try {
      const { tab } = set;
      await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
      const inside = `/proc/${set.server.pid()}/root${disk}`;
      const { id } = await set.api('POST', '/api/projects', { path: disk });
      const run = await set.run(id, 'hello-branch');
      await set.show(id, run);
      await tab.getByText('What shall it do?').first().waitFor();
      const ballast = join(inside, 'ballast');
      assert.throws(() => writeFileSync(ballast, Buffer.alloc(4 << 20)), /ENOSPC/);
      await answer(tab);
      await until('it is told', async () => /no room|disk is full|no space/i.test(await words(tab)));
      assert.ok(!existsSync(join(inside, 'artifacts/intake.md')), 'nothing is half written');
      await rm(ballast);
      await tab.getByRole('button', { name: 'Resume' }).first().click();
      await tab.getByRole('log').getByText('It is written.').waitFor();
      assert.equal(statSync(join(inside, 'artifacts/intake.md')).size, 'many words '.length * 60_000);
    } finally {
      await set.close();
    }
  });

  it('under the store: the run stops with the reason, the page stays, and Resume goes on', async () => {
    const home = join(place.folder, 'home');
    await mkdir(home);
    const set = await desk({ model: ASKS, home, server: { under: smallDisk(home, '2m') } });
    try {
      const { tab } = set;
      const inside = `/proc/${set.server.pid()}/root${home}`;
      writeFileSync(join(inside, 'config.toml'), `[run]\nmodel = ${JSON.stringify(`scripted:${join(set.folder, 'model.yaml')}`)}\n`);
      await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
      const { path, run } = await waiting(set, 'shop');
      const ballast = join(inside, 'ballast');
      assert.throws(() => writeFileSync(ballast, Buffer.alloc(4 << 20)), /ENOSPC/);
      await answer(tab);
      await until('it is told', async () => /no room|disk is full|no space/i.test(await words(tab)));
      const said = await words(tab);
      assert.match(said, /free|space|room/i, 'it says what to do');
      await rm(ballast);
      // Words that were not taken are still in the field; a run that stopped can be resumed.
      const field = tab.getByRole('textbox', { name: 'Message' });
      if ((await field.inputValue()) !== '') await field.press('Enter');
      else await tab.getByRole('button', { name: 'Resume' }).first().click();
      await tab.getByRole('log').getByText('It is written.').waitFor();
      assert.ok(existsSync(join(path, 'artifacts/intake.md')));
      assert.equal((await set.api('GET', `/api/runs/${run}`)).troubles, undefined);
    } finally {
      await set.close();
    }
  });

  it('a project that cannot be written to: the call is refused with the reason', async () => {
    const path = join(place.folder, 'locked');
    await mkdir(path);
    const set = await desk({ model: ASKS, server: { under: readOnly(path) } });
    try {
      const { tab } = set;
      await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
      const { id } = await set.api('POST', '/api/projects', { path });
      const run = await set.run(id, 'hello-branch');
      await set.show(id, run);
      await tab.getByText('What shall it do?').first().waitFor();
      await answer(tab);
      await until('it is told', async () => /read-only|not allow|permission/i.test(await words(tab)));
    } finally {
      await set.close();
    }
  });
});

describe('a clock that jumps', () => {
  const FAKETIME = [process.env.CREWAGENT_FAKETIME, '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'].find((file) => file && existsSync(file));
  /** Times that nobody would say. */
  const absurd = /-\d+(\.\d+)? s\b|-\d+:\d\d|\bin \d+ (hr|min|day|sec)|NaN|Invalid|1970|\d{3,}:\d\d:\d\d/;

  async function look(set, id, run) {
    for (const at of [`/project/${id}`, `/project/${id}/runs`, `/project/${id}/run/${run}`]) {
      await set.tab.goto(set.server.origin + at);
      await set.tab.locator('main').getByText(/hello-branch|shop|What shall it do/).first().waitFor();
      assert.doesNotMatch(await words(set.tab), absurd, at);
    }
    await set.tab.getByRole('tab', { name: 'Log' }).click();
    assert.doesNotMatch(await words(set.tab), absurd, 'log');
  }

  it('in the browser: ages and spans stay sensible', async () => {
    const set = await desk({ model: ASKS });
    try {
      await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
      const { id, run } = await waiting(set, 'shop');
      await answer(set.tab);
      await set.tab.getByRole('log').getByText('It is written.').waitFor();
      for (const hours of [-7, 9]) {
        await set.context.clock.install({ time: Date.now() + hours * 3_600_000 });
        await set.context.clock.resume();
        await look(set, id, run);
      }
    } finally {
      await set.close();
    }
  });

  it('of the computer, back in the middle of a run', { skip: !FAKETIME && 'libfaketime is not installed' }, async () => {
    const place = await scratch();
    await mkdir(place.folder, { recursive: true });
    const file = join(place.folder, 'time');
    writeFileSync(file, '+0');
    const env = { LD_PRELOAD: FAKETIME, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' };
    const set = await desk({ model: ASKS, server: { env } });
    try {
      await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
      const { id, run } = await waiting(set, 'shop');
      writeFileSync(file, '-5h');
      await answer(set.tab);
      await set.tab.getByRole('log').getByText('It is written.').waitFor();
      const times = (await set.api('GET', `/api/runs/${run}/events?after=0`)).events.map((event) => event.time);
      assert.ok(times.some((time, at) => at > 0 && time < times[at - 1]), 'the clock did jump');
      await look(set, id, run);
    } finally {
      await set.close();
      await place.remove();
    }
  });
});
