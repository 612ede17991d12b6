/** Conversations with agents and with runs: what is offered can be taken, commands are not said to the model, and what rests says why. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withFixture } from './fixture.mjs';
import { eventually, until } from './harness.mjs';

const words = (count) => Array.from({ length: count }, (_, at) => `w${at + 1}`).join(' ');
const slow = { characters: 6, milliseconds: 20 };
const asks = { calls: [{ 'ui.ask_user': { question: 'Which one?' } }] };

/** Makes a test of a project with a package whose agents have menus. */
const withShop = (model, body, options = {}) =>
  withFixture({ model: { nodes: {}, ...model }, ...options }, async (fixture) => {
    const { tab } = fixture;
    const shop = await fixture.project('shop', { 'notes.txt': 'x\n', 'docs/plan.md': '# Plan\n' });
    /** Opens a new conversation. */
    const openConversation = async (body = {}) => {
      const id = await fixture.startConversation(shop.id, { package: 'hello-branch', agent: 'pm', ...body });
      await fixture.showConversation(shop.id, id);
      await fixture.field.waitFor();
      return id;
    };
    /** Opens a new run that belongs to no conversation. */
    const openRun = async () => {
      const run = await fixture.startRun(shop.id);
      await fixture.showRun(shop.id, run);
      return run;
    };
    const rail = tab.getByRole('navigation', { name: 'Main' });
    await body({ ...fixture, shop, rail, openConversation, openRun, row: (text) => fixture.log.getByText(text), choices: tab.locator('.choice:enabled') });
  });
const hasCount = (locator, count) => eventually(async () => assert.equal(await locator.count(), count));

describe('a conversation with an agent', () => {
  it('takes a message again after something else was chosen while it asked', withShop({ chat: [asks, { say: 'It is a new project.' }, { say: 'I heard: {{input}}.' }] }, async ({ tab, openConversation, send, row, pill }) => {
    await openConversation();
    await send('Hello');
    await row('Which one?').waitFor();
    await pill('waiting').waitFor();
    await send('/menu');
    await row('Say whether the open project is greenfield').click();
    await row('It is a new project.').waitFor();
    await pill('ready').waitFor();
    await tab.locator('.choice:disabled').waitFor();
    await hasCount(tab.locator('.choice:enabled'), 0);
    await send('Thank you');
    await row('I heard: Thank you.').waitFor();
    assert.equal(await tab.locator('.toast').count(), 0);
  }));

  it('an old menu neither answers a question nor takes the place of a newer one', withShop({ chat: [{ calls: [{ 'fs.write': { path: '@project/a.md', content: 'a' } }] }] }, async ({ tab, openConversation, send, choices }) => {
    await openConversation();
    await send('/menu');
    await hasCount(choices, 1);
    await send('/menu');
    await hasCount(tab.locator('.choice'), 2);
    await hasCount(choices, 1);
    assert.equal(await tab.locator('.choice').last().isEnabled(), true, 'the new one can be chosen from, and it alone');
    await send('Write it down');
    await tab.getByRole('button', { name: 'Allow once' }).waitFor();
    await hasCount(choices, 0);
    await send('／menu');
    await hasCount(choices, 1);
    assert.equal(await tab.locator('.choice').last().isEnabled(), true, 'one that was asked for since can be');
  }, { policy: 'ask = ["fs.write"]' }));

  it('says that it needs approval, also from afar', withShop({ chat: [{ calls: [{ 'fs.write': { path: '@project/a.md', content: 'a' } }] }] }, async ({ tab, openConversation, send, pill, rail }) => {
    await openConversation();
    await send('Write it down');
    await pill('approval').waitFor();
    await until('the title counts it', async () => (await tab.title()) === '(1) Needs approval – CrewAgent');
    const works = tab.getByRole('complementary', { name: 'Conversations' });
    await works.getByRole('link', { name: /Needs approval/ }).waitFor();
    await rail.getByRole('link', { name: 'Runs' }).click();
    await tab.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    for (const look of ['at once', 'after a reload']) {
      if (look === 'after a reload') await tab.reload();
      await works.getByRole('link', { name: /Needs approval/ }).waitFor();
      await until(`the title counts it ${look}`, async () => (await tab.title()).startsWith('(1) '));
    }
  }, { policy: 'ask = ["fs.write"]' }));

  it('without a model that answers looks failed, and Resume tries again', withShop({ chat: [{ fault: { fail: 'auth', message: 'No such key.' } }] }, async ({ tab, log, openConversation, send, row, pill }) => {
    await openConversation();
    await send('Hello');
    await pill('failed').waitFor();
    await tab.reload();
    await pill('failed').waitFor();
    const failures = row(/The model failed/);
    await hasCount(failures, 1);
    await log.getByRole('button', { name: 'Resume' }).click();
    await hasCount(failures, 2);
    await pill('failed').waitFor();
    await tab.getByRole('banner').getByRole('button', { name: 'Resume' }).click();
    await hasCount(failures, 3);
    await pill('failed').waitFor();
  }));
});

describe('a conversation about a run', () => {
  it('offers no menu beside it, and a replay goes on with nothing', withShop({ nodes: { 'step-01-intake': [{ say: 'Hello from the run. What now?' }] } }, async ({ tab, api, log, openConversation, send, row, pill, choices }) => {
    const conversation = await openConversation();
    await send('/menu');
    await hasCount(choices, 1);
    await api('POST', `/api/conversations/${conversation}/runs`, { package: 'hello-branch' });
    await row('Hello from the run.').waitFor();
    await pill('waiting').waitFor();
    await hasCount(choices, 0);
    await send('/pause');
    const goOn = log.getByRole('button', { name: 'Continue' });
    await goOn.waitFor();
    await tab.getByRole('button', { name: 'Replay', exact: true }).click();
    await goOn.waitFor({ state: 'hidden' });
    await hasCount(choices, 0);
    await tab.getByRole('button', { name: 'Back to live' }).click();
    await goOn.waitFor();
  }));
});

describe('commands in a run of its own', () => {
  const MODEL = { nodes: { 'step-01-intake': [asks, { say: words(40), fault: { hang: true }, times: 9 }] } };

  it('are offered as far as they work there', withShop(MODEL, async ({ tab, openRun, pill, field }) => {
    await openRun();
    await pill('waiting').waitFor();
    const offered = async () => (await tab.getByRole('listbox').getByRole('option').locator('code').allTextContents()).join(' ');
    await field.pressSequentially('/');
    await eventually(async () => assert.equal(await offered(), '/pause /stop /resume /status /help'));
    await field.fill('');
    // A keyboard of another language has another slash.
    await field.pressSequentially('／st');
    await eventually(async () => assert.equal(await offered(), '/stop /status'));
  }));

  it('are done or explained, and never said to the model', withShop(MODEL, async ({ tab, openRun, pill, field, send, events }) => {
    const run = await openRun();
    await pill('waiting').waitFor();
    const countEvents = async () => (await events('runs', run)).filter((event) => event.type !== 'run.finished').length;
    const before = await countEvents();
    await send('/help');
    await tab.getByRole('dialog').waitFor();
    await tab.keyboard.press('Escape');
    await tab.getByRole('dialog').waitFor({ state: 'hidden' });
    for (const [command, answer] of [['/status', /turns?, .* tokens so far/], ['*menu', /\/menu belongs to a conversation/], ['/stop', /not at work/], ['／resume', /no run to resume/]]) {
      await Promise.all([tab.locator('.toast').getByText(answer).waitFor(), send(command)]);
      assert.equal(await field.inputValue(), '');
    }
    assert.equal(await countEvents(), before);
  }));

  it('stop it at once and go on', withShop(MODEL, async ({ tab, openRun, send, row, pill }) => {
    await openRun();
    await pill('waiting').waitFor();
    // A path is no command, although it has a slash in front.
    await send('/etc/hosts');
    await row(/Answered: .?\/etc\/hosts/).waitFor();
    await row('w3 ').waitFor();
    await send('/stop');
    await pill('paused').waitFor();
    await send('/resume');
    await pill('running').waitFor();
    await send('*pause');
    await tab.getByRole('status').getByText('Pausing after this call').waitFor();
  }));
});

describe('files that are named in a message', () => {
  const MODEL = { chat: [{ say: 'Yes.' }] };
  const CHAT = { agent: undefined, package: undefined };

  it('are completed where the caret is, and it stays there', withShop(MODEL, async ({ tab, openConversation, field }) => {
    await openConversation(CHAT);
    await field.fill('Look at  please');
    for (let times = 0; times < 7; times += 1) await field.press('ArrowLeft');
    await field.pressSequentially('@no');
    await tab.getByRole('option', { name: '@notes.txt' }).waitFor();
    await field.press('Tab');
    await eventually(async () => assert.equal(await field.inputValue(), 'Look at @notes.txt  please'));
    await field.pressSequentially('now');
    assert.equal(await field.inputValue(), 'Look at @notes.txt now please');
  }));

  it('are offered at once when their folder was chosen', withShop(MODEL, async ({ tab, openConversation, field }) => {
    await openConversation(CHAT);
    await field.pressSequentially('@do');
    await tab.getByRole('option', { name: '@docs/' }).click();
    await tab.getByRole('option', { name: '@docs/plan.md' }).click();
    await eventually(async () => assert.equal(await field.inputValue(), '@docs/plan.md '));
  }));
});

describe('messages that wait while another screen is open', () => {
  const queue = (tab) => tab.getByRole('list', { name: 'Waiting to be sent' });
  /** Returns true if the page may be left without a question. */
  const canLeave = (tab) => tab.evaluate(() => window.dispatchEvent(new Event('beforeunload', { cancelable: true })));

  it('are sent all the same, and the page is not left silently before', withShop({ nodes: { 'step-01-intake': [{ say: `${words(1200)}?`, pace: slow }, { say: 'I heard you. What else?' }] } }, async ({ tab, openRun, send, row, rail, events }) => {
    const run = await openRun();
    await row('w3 ').waitFor();
    assert.equal(await canLeave(tab), true);
    await send('Mind the colours');
    await queue(tab).getByText('queued').waitFor();
    assert.equal(await canLeave(tab), false);
    await rail.getByRole('link', { name: 'Settings' }).click();
    await tab.getByRole('heading', { name: 'Models', exact: true }).waitFor();
    await until('it is sent', async () => (await events('runs', run)).some((event) => event.type === 'user.input' && event.text === 'Mind the colours'));
    await until('nothing waits', () => canLeave(tab));
    await tab.getByRole('link', { name: 'Back' }).click();
    await row('I heard you.').waitFor();
    assert.equal(await row('Mind the colours').count(), 1);
    assert.equal(await queue(tab).count(), 0);
  }));

  it('say that they were not sent when nothing will send them', withShop({ nodes: { 'step-01-intake': [{ say: words(40), fault: { hang: true } }] } }, async ({ tab, api, openRun, send, row, pill, rail }) => {
    const run = await openRun();
    await row('w3 ').waitFor();
    await send('And the sizes');
    await queue(tab).getByText('queued').waitFor();
    await send('/stop');
    await pill('paused').waitFor();
    await queue(tab).getByText('not sent yet: press Send').waitFor();
    tab.on('dialog', (dialog) => void dialog.accept());
    await tab.reload();
    await queue(tab).getByText('not sent yet: press Send').waitFor();
    assert.equal(await canLeave(tab), false);
    await rail.getByRole('link', { name: 'Runs' }).click();
    await tab.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await until('the run is removed', async () => (await api('DELETE', `/api/runs/${run}`)) && (await api('GET', `/api/runs/${run}`)).code === 'not-found');
    await until('nothing waits for a run that was removed', () => canLeave(tab));
  }));
});

describe('notifications', () => {
  /** Makes a test of a page that is in view while the user types elsewhere; `notified` returns what the system was to show. */
  const withNotifications = (body) =>
    withShop({ nodes: { 'step-01-intake': [{ say: 'Hello from the run. What now?' }] }, chat: [{ say: 'Hello.' }] }, async (fixture) => {
      const { tab } = fixture;
      await tab.addInitScript(() => {
        localStorage.setItem('crewagent.prefs', JSON.stringify({ notify: true }));
        window.notified = [];
        window.Notification = class {
          static permission = 'granted';
          constructor(title, { body }) {
            window.notified.push(this);
            Object.assign(this, { title, body });
          }
        };
        document.hasFocus = () => window.isFocused === true;
      });
      const conversation = await fixture.openConversation({ agent: undefined });
      await tab.locator('footer').getByText('Connected', { exact: true }).waitFor();
      const notified = () => tab.evaluate(() => window.notified.map(({ title, body }) => `${title} (${body})`));
      await body({ ...fixture, conversation, notified });
    });

  it('of a conversation have its title and lead there', withNotifications(async ({ tab, api, conversation, rail, notified }) => {
    await rail.getByRole('link', { name: 'Runs' }).click();
    await tab.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await api('POST', `/api/conversations/${conversation}/say`, { text: 'What about the shop?' });
    await eventually(async () => assert.deepEqual(await notified(), ['CrewAgent: Waiting for you (What about the shop?)']));
    await tab.evaluate(() => window.notified[0].onclick());
    await tab.waitForURL(new RegExp(conversation));
  }));

  it('of a run in a conversation come once', withNotifications(async ({ api, conversation, row, notified, pill }) => {
    await api('POST', `/api/conversations/${conversation}/runs`, { package: 'hello-branch' });
    await row('Hello from the run.').waitFor();
    await pill('waiting').waitFor();
    await eventually(async () => assert.deepEqual(await notified(), ['CrewAgent: Waiting for you (hello-branch)']));
  }));

  it('do not come to a user who looks', withNotifications(async ({ tab, send, row, pill, notified }) => {
    await tab.evaluate(() => (window.isFocused = true));
    await send('Once more');
    await row('Hello.').waitFor();
    await pill('ready').waitFor();
    assert.deepEqual(await notified(), []);
    // The next reply fails, which is news as well.
    await send('And again');
    await pill('failed').waitFor();
    assert.deepEqual(await notified(), []);
  }));
});
