/** Conversations with an agent of a package: its menu, the workflows that it starts, and the way between both. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alterExample, withFixture } from './fixture.mjs';
import { goldenModel, until } from './harness.mjs';

/** Makes a test of a conversation with the agent of `create-story-micro`, in view. */
const withStoryAgent = (body) =>
  withFixture({ model: goldenModel('001-create-story-micro'), packages: ['create-story-micro'] }, async (fixture) => {
    const story = await fixture.project('story', {}, '001-create-story-micro');
    const conversation = await fixture.startConversation(story.id, { package: 'create-story-micro', agent: 'sm' });
    await fixture.showConversation(story.id, conversation);
    await fixture.tab.getByRole('list', { name: 'What Bob offers' }).waitFor();
    await body({ ...fixture, conversation });
  });

describe('an agent', () => {
  it('offers its menu without asking a model, and a number starts its workflow', withStoryAgent(async ({ tab, log, send, conversation, events }) => {
    assert.equal((await events('conversations', conversation)).some((event) => event.type === 'turn.started'), false);
    await send('1');
    await log.getByText(/Which story shall I prepare/).waitFor();
    await tab.getByRole('application').waitFor();
  }));

  it('is left and come back to: the run waits, and goes on from its card', withStoryAgent(async ({ tab, api, log, pill, send, conversation }) => {
    await send('1');
    await log.getByText(/Which story shall I prepare/).waitFor();
    await pill('waiting').waitFor();
    await tab.getByRole('radio', { name: 'Agent' }).click();
    await tab.getByRole('radio', { name: 'Agent', checked: true }).waitFor();
    await log.getByRole('button', { name: 'Continue' }).last().click();
    await tab.getByRole('radio', { name: 'Workflow', checked: true }).waitFor();
    const { activeRun, runs } = await api('GET', `/api/conversations/${conversation}`);
    assert.equal(activeRun, runs[0]);
  }));
});

const ASKS = { 'ui.ask_user': { question: 'What is it about?' } };

describe('a workflow', () => {
  it('a chat becomes a workflow, with its history', withFixture({ model: { nodes: { 'step-01-intake': [{ calls: [ASKS] }] }, chat: [{ say: 'There is a readme.' }] } }, async (fixture) => {
    const { tab, log } = fixture;
    const shop = await fixture.project('shop');
    await fixture.showConversation(shop.id, await fixture.startConversation(shop.id));
    await fixture.send('What is in this project?');
    await log.getByText('There is a readme.').waitFor();
    await tab.getByRole('radio', { name: 'Workflow' }).click();
    await tab.getByRole('dialog', { name: 'Run a workflow' }).getByRole('button', { name: 'Run', exact: true }).click();
    await log.getByText('What is it about?').waitFor();
    await log.getByText('What is in this project?').waitFor();
    await tab.getByRole('application').waitFor();
  }));

  it('a run that a limit held up is resumed', withFixture({ model: { nodes: { 'step-01-intake': [{ say: 'I look around.', calls: [{ 'fs.list': { path: '@project' } }] }, { calls: [ASKS] }] } } }, async (fixture) => {
    const { tab, log } = fixture;
    const shop = await fixture.project('shop');
    await fixture.showRun(shop.id, await fixture.startRun(shop.id, { bounds: { maxTurns: 1 } }));
    await log.getByText('since your last input').first().waitFor();
    await tab.getByRole('button', { name: 'Resume' }).first().click();
    await log.getByText('What is it about?').waitFor();
  }));
});

/** Makes a test of a conversation with an agent that has three items in its menu, in view. */
const withMenu = (body) =>
  withFixture({ model: { nodes: {}, chat: [{ say: 'Hello.', times: 20 }] }, packages: [] }, async (fixture) => {
    await fixture.importPackage(
      await alterExample(fixture.folder, 'menus', 'hello-branch', {
        'bmad.json': (json) => (json.name = 'menus'),
        'agents.json': (json) => {
          const item = { description: '[CL] Say whether the project is new', trigger: 'classify', action: '#classify-project' };
          json.agents[1].menu = [item, { ...item, trigger: 'review-code', description: 'Review the code' }, { ...item, trigger: 'review-docs', description: 'Review the documents' }];
        },
      }),
    );
    const shop = await fixture.project('shop', { 'README.md': 'x' });
    const conversation = await fixture.startConversation(shop.id, { package: 'menus', agent: 'pm' });
    await fixture.showConversation(shop.id, conversation);
    const menu = fixture.tab.getByRole('list', { name: 'What John offers' });
    await menu.waitFor();
    const events = () => fixture.events('conversations', conversation);
    const countRequests = async () => (await events()).filter((event) => event.type === 'turn.started').length;
    await body({ ...fixture, menu, events, countRequests });
  });

describe('the menu of an agent', () => {
  it('shows number, description and trigger, and no model was asked', withMenu(async ({ menu, countRequests }) => {
    await menu.getByRole('listitem').nth(1).filter({ hasText: /2\s*Review the code\s*review-code/ }).waitFor();
    assert.equal(await countRequests(), 0);
  }));

  it('of several that match, numbered candidates are shown, without a model', withMenu(async ({ tab, send, countRequests }) => {
    await send('review');
    const choices = tab.locator('.choices');
    await choices.getByText('Which one do you mean?').waitFor();
    await choices.getByRole('button').nth(1).waitFor();
    assert.equal(await choices.getByRole('button').count(), 2);
    assert.match((await choices.getByRole('button').first().textContent()) ?? '', /^\d/);
    assert.equal(await countRequests(), 0);
  }));

  for (const [how, words] of [['a number', '1'], ['a trigger', 'review-docs'], ['a few letters', 'docum']]) {
    it(`an item is chosen by ${how}`, withMenu(async ({ send, events, countRequests }) => {
      await send(words);
      await until('the model was asked', async () => (await countRequests()) > 0);
      const resolved = (await events()).findLast((event) => event.type === 'command.resolved');
      assert.match(JSON.stringify(resolved), /RunAction|ExecScript/);
    }));
  }
});
