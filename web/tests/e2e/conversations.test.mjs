/** Talk with agents and with runs: what is offered can be taken, commands are no words, and what rests says why. */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { desk } from './fixture.mjs';
import { example } from './harness.mjs';
import { until } from './screens-fixture.mjs';

const words = (count) => Array.from({ length: count }, (_, at) => `w${at + 1}`).join(' ');
const slow = { characters: 6, milliseconds: 20 };

/** A desk with a package whose agents have menus, and a project. */
async function office(model, policy) {
  const set = await desk({ model: JSON.stringify({ scenario: 'talk', nodes: {}, ...model }), policy });
  await set.api('POST', '/api/packages/import', { path: example('hello-branch') });
  const { id, path } = await set.project('shop', { 'notes.txt': 'x\n' });
  const at = (kind, work) => `${set.server.origin}/project/${id}/${kind}/${work}`;
  const talk = async (body = {}) => {
    const begun = await set.api('POST', '/api/conversations', { project: id, package: 'hello-branch', agent: 'pm', ...body });
    await set.tab.goto(at('work', begun.id));
    return begun.id;
  };
  const solo = async () => {
    const run = await set.run(id, 'hello-branch');
    await set.tab.goto(at('run', run));
    return run;
  };
  const pill = (look) => set.tab.locator(`header .pill.${look}`).waitFor();
  const field = set.tab.getByRole('textbox', { name: 'Message' });
  const send = async (text) => {
    await field.fill(text);
    await field.press('Enter');
  };
  const row = (text) => set.tab.getByRole('log').getByText(text);
  const events = async (kind, work) => (await set.api('GET', `/api/${kind}/${work}/events?after=0`)).events;
  return { ...set, path, talk, solo, pill, field, send, row, events };
}

describe('talk with an agent', () => {
  let set, tab;
  before(async () => {
    const asks = { calls: [{ 'ui.ask_user': { question: 'Which one?' } }] };
    set = await office({ chat: [asks, { say: 'It is a new project.' }, { say: 'I heard: {{input}}.' }, { calls: [{ 'fs.write': { path: '@project/a.md', content: 'a' } }] }] }, 'ask = ["fs.write"]');
    ({ tab } = set);
  });
  after(() => set?.close());

  it('takes words again after something else was chosen while it asked', async () => {
    await set.talk();
    await set.send('Hello');
    await set.row('Which one?').waitFor();
    await set.pill('waiting');
    await set.send('/menu');
    const choice = set.row('Say whether the open project is greenfield');
    await choice.click();
    await set.row('It is a new project.').waitFor();
    await set.pill('ready');
    assert.equal(await tab.locator('.choice').isDisabled(), true, 'what was chosen from is no choice any more');
    await set.send('Thank you');
    await set.row('I heard: Thank you.').waitFor();
    assert.equal(await tab.locator('.toast').count(), 0);
  });

  it('an old menu neither answers a question nor takes the place of a newer one', async () => {
    const open = tab.locator('.choice:enabled');
    await set.send('/menu');
    await until('the new one can be chosen from, and it alone', async () => (await open.count()) === 1);
    await set.send('Write it down');
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    assert.equal(await open.count(), 0, 'it was shown before the question');
    await set.send('／menu');
    await until('one that was asked for since can be', async () => (await open.count()) === 1);
    assert.equal(await tab.locator('.choice').last().isEnabled(), true);
  });

  it('says that it needs approval, also from afar', async () => {
    await set.pill('approval');
    await until('the title counts it', async () => (await tab.title()) === '(1) Needs approval – CrewAgent');
    const works = tab.getByRole('complementary', { name: 'Works' });
    await works.getByRole('link', { name: /Needs approval/ }).waitFor();
    await tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
    await tab.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    for (const look of ['at once', 'after a reload']) {
      if (look === 'after a reload') await tab.reload();
      await works.getByRole('link', { name: /Needs approval/ }).waitFor();
      await until(`the title counts it ${look}`, async () => (await tab.title()).startsWith('(1) '));
    }
  });
});

describe('talk about a run', () => {
  let set, tab;
  before(async () => {
    set = await office({ nodes: { 'step-01-intake': [{ say: 'Hello from the run.' }] } });
    ({ tab } = set);
  });
  after(() => set?.close());

  it('offers no menu beside it, and a replay goes on with nothing', async () => {
    const open = tab.locator('.choice:enabled');
    const talk = await set.talk();
    await set.send('/menu');
    await until('the menu can be chosen from', async () => (await open.count()) === 1);
    await set.api('POST', `/api/conversations/${talk}/runs`, { package: 'hello-branch' });
    await set.row('Hello from the run.').waitFor();
    await set.pill('waiting');
    assert.equal(await open.count(), 0);
    await set.send('/pause');
    const goOn = tab.getByRole('log').getByRole('button', { name: 'Continue' });
    await goOn.waitFor();
    await tab.getByRole('button', { name: 'Look back in time' }).click();
    await goOn.waitFor({ state: 'hidden' });
    assert.equal(await open.count(), 0);
    await tab.getByRole('button', { name: 'Back to live' }).click();
    await goOn.waitFor();
  });
});

describe('talk without a model that answers', () => {
  let set, tab;
  before(async () => {
    set = await office({ chat: [{ fault: { fail: 'auth', message: 'No such key.' } }] });
    ({ tab } = set);
  });
  after(() => set?.close());

  it('looks failed, and Resume tries again', async () => {
    await set.talk();
    await set.send('Hello');
    await set.pill('failed');
    await tab.reload();
    await set.pill('failed');
    const failures = set.row(/The model failed/);
    await failures.waitFor();
    await tab.getByRole('log').getByRole('button', { name: 'Resume' }).click();
    await until('it was tried again', async () => (await failures.count()) === 2);
    await tab.getByRole('banner').getByRole('button', { name: 'Resume' }).click();
    await until('it was tried once more', async () => (await failures.count()) === 3);
    await set.pill('failed');
  });
});

describe('commands in a run of its own', () => {
  let set, tab, run;
  before(async () => {
    const asks = { calls: [{ 'ui.ask_user': { question: 'Which one?' } }] };
    set = await office({ nodes: { 'step-01-intake': [asks, { say: words(900), pace: slow }] } });
    ({ tab } = set);
    run = await set.solo();
    await set.pill('waiting');
  });
  after(() => set?.close());
  const offered = () => tab.getByRole('listbox').getByRole('option').locator('code').allTextContents();

  it('are offered as far as they work there', async () => {
    await set.field.pressSequentially('/');
    await until('they are offered', async () => (await offered()).join(' ') === '/pause /stop /resume /status /help');
    await set.field.fill('');
    await set.field.pressSequentially('／st');
    await until('a keyboard of another language offers them', async () => (await offered()).join(' ') === '/stop /status');
  });

  it('are done or explained, and never said to the model', async () => {
    const before = (await set.events('runs', run)).length;
    await set.send('/help');
    await tab.getByRole('dialog').waitFor();
    await tab.keyboard.press('Escape');
    await tab.getByRole('dialog').waitFor({ state: 'hidden' });
    for (const [command, told] of [['/status', /turns?, .* tokens so far/], ['*menu', /\/menu belongs to a conversation/], ['/stop', /not at work/], ['／resume', /no run to resume/]]) {
      await set.send(command);
      await tab.locator('.toast').getByText(told).waitFor();
      assert.equal(await set.field.inputValue(), '');
    }
    assert.equal((await set.events('runs', run)).length, before);
  });

  it('stop it at once and go on', async () => {
    // Just words, with a slash in front.
    await set.send('/etc/hosts');
    await set.row(/Answered: .?\/etc\/hosts/).waitFor();
    await set.row('w3 ').waitFor();
    await set.send('/stop');
    await set.pill('paused');
    await set.send('/resume');
    await set.pill('running');
    await set.send('*pause');
    await tab.getByRole('status').getByText('Pausing after this call').waitFor();
  });
});

describe('files that are named in a message', () => {
  let set, tab;
  before(async () => {
    set = await office({ chat: [{ say: 'Yes.' }] });
    ({ tab } = set);
    await mkdir(join(set.path, 'docs'));
    await writeFile(join(set.path, 'docs/plan.md'), '# Plan\n');
    await set.talk({ agent: undefined, package: undefined });
  });
  after(() => set?.close());

  it('are completed where the caret is, and it stays there', async () => {
    await set.field.fill('Look at  please');
    for (let times = 0; times < 7; times += 1) await set.field.press('ArrowLeft');
    await set.field.pressSequentially('@no');
    await tab.getByRole('option', { name: '@notes.txt' }).waitFor();
    await set.field.press('Tab');
    await set.field.pressSequentially('now');
    assert.equal(await set.field.inputValue(), 'Look at @notes.txt now please');
  });

  it('are offered at once when their folder was chosen', async () => {
    await set.field.fill('');
    await set.field.pressSequentially('@do');
    await tab.getByRole('option', { name: '@docs/' }).click();
    await tab.getByRole('option', { name: '@docs/plan.md' }).click();
    assert.equal(await set.field.inputValue(), '@docs/plan.md ');
  });
});

describe('words that wait while another screen is open', () => {
  let set, tab;
  before(async () => {
    set = await office({ nodes: { 'step-01-intake': [{ say: words(120), pace: slow }, { say: 'I heard you.' }, { say: words(900), pace: slow }] } });
    ({ tab } = set);
  });
  after(() => set?.close());
  const queue = () => tab.getByRole('list', { name: 'Waiting to be sent' });
  const leaves = () => tab.evaluate(() => window.dispatchEvent(new Event('beforeunload', { cancelable: true })));

  it('are said all the same, and the page is not left silently before', async () => {
    const run = await set.solo();
    await set.row('w3 ').waitFor();
    assert.equal(await leaves(), true);
    await set.send('Mind the colours');
    await queue().getByText('queued').waitFor();
    assert.equal(await leaves(), false);
    await tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Settings' }).click();
    await tab.getByRole('heading', { name: 'Models', exact: true }).waitFor();
    await until('they are said', async () => (await set.events('runs', run)).some((event) => event.type === 'user.input' && event.text === 'Mind the colours'));
    await until('nothing waits', leaves);
    await tab.getByRole('link', { name: 'Back' }).click();
    await set.row('I heard you.').waitFor();
    assert.equal(await set.row('Mind the colours').count(), 1);
    assert.equal(await queue().count(), 0);
  });

  it('say that they were not sent when nobody will send them', async () => {
    await set.send('Go on');
    await set.row('w3 ').nth(1).waitFor();
    await set.send('And the sizes');
    await queue().getByText('queued').waitFor();
    await set.send('/stop');
    await set.pill('paused');
    await queue().getByText('not sent yet: press Send').waitFor();
    await tab.reload();
    await queue().getByText('not sent yet: press Send').waitFor();
    assert.equal(await leaves(), false);
    const run = new URL(tab.url()).pathname.split('/').at(-1);
    await tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
    await set.api('DELETE', `/api/runs/${run}`);
    await until('nothing waits for a run that was removed', leaves);
  });
});

describe('notifications', () => {
  let set, tab;
  before(async () => {
    set = await office({ nodes: { 'step-01-intake': [{ say: 'Hello from the run.' }] }, chat: [{ say: 'Hello.' }] });
    ({ tab } = set);
    await tab.addInitScript(() => {
      localStorage.setItem('crewagent.prefs', JSON.stringify({ notify: true }));
      window.told = [];
      window.Notification = class {
        static permission = 'granted';
        constructor(title, { body }) {
          window.told.push(this);
          Object.assign(this, { title, body });
        }
      };
      // The page is in view, and somebody types elsewhere.
      document.hasFocus = () => window.isFocused === true;
    });
  });
  after(() => set?.close());
  const told = () => tab.evaluate(() => window.told.map(({ title, body }) => `${title} (${body})`));

  it('of a conversation have its title and lead there', async () => {
    const talk = await set.talk({ agent: undefined });
    await tab.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
    await set.api('POST', `/api/conversations/${talk}/say`, { text: 'What about the shop?' });
    await until('it is told', async () => (await told()).join() === 'CrewAgent: Waiting for you (What about the shop?)');
    await tab.evaluate(() => window.told[0].onclick());
    await tab.waitForURL(new RegExp(talk));
  });

  it('of a run in a conversation come once, and none to somebody who looks', async () => {
    const talk = new URL(tab.url()).pathname.split('/').at(-1);
    await set.api('POST', `/api/conversations/${talk}/runs`, { package: 'hello-branch' });
    await set.row('Hello from the run.').waitFor();
    await until('it rests', async () => !(await set.api('GET', `/api/conversations/${talk}`)).atWork);
    await until('it is told', async () => (await told()).length > 1);
    await tab.evaluate(() => (window.isFocused = true));
    await set.api('POST', `/api/conversations/${talk}/say`, { text: '/pause' });
    await set.send('Once more');
    await set.pill('failed');
    assert.deepEqual((await told()).slice(1), ['CrewAgent: Waiting for you (hello-branch)']);
  });
});
