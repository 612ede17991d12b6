import { flushSync, mount, unmount } from 'svelte';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import GateCard from '../../src/chat/GateCard.svelte';
import type { Event, GateAction } from '../../src/lib/api/types';
import { chosenOption, gateDrafts, gateKeys, gateOptionAt, gateOptions, gateOutcome, isShortcutKey } from '../../src/lib/gate';
import { setLanguage } from '../../src/lib/i18n/index.svelte';
import { reduce } from '../../src/lib/reduce';
import { type AskRow, emptyView } from '../../src/lib/view';

// jsdom has neither media queries nor a layout.
vi.hoisted(() => {
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }));
  vi.stubGlobal('ResizeObserver', class { observe() {} unobserve() {} disconnect() {} });
});

const option = (value: string, label: string, does: GateAction = 'edge') => ({ value, label, does });
const OPTIONS = [option('A', 'Advanced Elicitation', 'call'), option('P', 'Party Mode', 'call'), option('C', 'Continue')];
const SHOW = [{ name: 'vision', path: '@state/drafts/vision.md', sha256: '00', bytes: 21, text: '# Vision\n\nA repair shop.' }];

/** Events of a gate, and of the answer `said`. */
function events(said?: string, result?: unknown): Event[] {
  const all: Record<string, unknown>[] = [
    { type: 'turn.started', turn: 1, nodeId: 'vision', agentId: 'ana', request: { messages: 1, bytes: 1, sha256: '' } },
    { type: 'tool.started', turn: 1, callId: 'c1', tool: 'ui.gate' },
    { type: 'question', turn: 1, callId: 'c1', question: 'The vision is ready.', kind: 'gate', options: OPTIONS, show: SHOW },
  ];
  if (said !== undefined) all.push({ type: 'user.input', text: said, callId: 'c1' });
  if (result !== undefined) {
    all.push({ type: 'tool.finished', turn: 1, callId: 'c1', tool: 'ui.gate', result: JSON.stringify(result) });
    all.push({ type: 'state.changed', moved: { from: 'vision', to: 'users', label: 'C' }, state: { currentNodeId: 'users', stepsCompleted: ['vision'], variables: {}, decisions: 1, artifacts: [], complete: false } });
  }
  return all.map((event, at) => ({ seq: at + 1, time: '2026-01-01T00:00:00Z', ...event }) as unknown as Event);
}

const gateOf = (all: Event[]): AskRow => reduce(emptyView(), all).rows.find((row) => row.kind === 'ask') as AskRow;

describe('keys of a gate', () => {
  const of = (...values: string[]) => gateKeys(gateOptions({ question: '', kind: 'choice', options: values.map((value) => ({ value })) }), (key) => isShortcutKey(key, {}));

  it('are those of the options', () => expect(of('A', 'P', 'C')).toEqual(['a', 'p', 'c']));
  it('are numbers for words, and where a shortcut begins with the letter', () => expect(of('Skip', 'G', '?')).toEqual(['1', '2', '3']));
  it('are never shared', () => expect(of('C', 'c', '1')).toEqual(['c', '2', '1']));
  it('give way to a digit that is an option', () => expect(of('long', '1')).toEqual([undefined, '1']));

  it.each([['a', 'A'], ['C', 'C'], ['2', 'P'], ['4', undefined], ['Enter', undefined], ['0', undefined]])('%s chooses %s', (pressed, value) => {
    const options = gateOptions({ question: '', kind: 'choice', options: OPTIONS });
    expect(gateOptionAt(options, ['a', 'p', 'c'], pressed)?.value).toBe(value);
  });
});

describe('an answer to a gate', () => {
  const options = gateOptions({ question: '', kind: 'choice', options: [...OPTIONS, option('X', 'Party favours')] });

  it.each([['c', 'C'], ['3', 'C'], ['continue', 'C'], ['adv', 'A'], ['party', undefined], ['shorter, please', undefined], ['', undefined]])('%s names %s', (words, value) => {
    expect(chosenOption(options, words)?.value).toBe(value);
  });

  it('is read from its result', () => {
    expect(gateOutcome(JSON.stringify({ ok: true, chosen: 'C', committed: [{ name: 'vision', path: 'out/brief.md', bytes: 3 }, 'x.md'], remaining: ['users'] }))).toEqual({
      chosen: 'C',
      committed: [{ path: 'out/brief.md', bytes: 3 }],
      remaining: ['users'],
    });
    expect(gateOutcome(JSON.stringify({ chosen: null, words: 'shorter' }))?.chosen).toBeNull();
    expect(gateOutcome('words')).toBeUndefined();
  });
});

describe('the row of a gate', () => {
  it('holds its drafts and options, and no call stands beside it', () => {
    const view = reduce(emptyView(), events());
    expect(view.rows.map((row) => row.kind)).toEqual(['step', 'ask']);
    expect(gateDrafts(gateOf(events()).question)).toEqual(SHOW);
    expect(view.question?.callId).toBe('c1');
  });

  it('knows which drafts the reply before it shows', () => {
    const reply = { seq: 0, type: 'assistant.message', turn: 1, content: '# Vision', drafts: [{ name: 'vision', start: 0, end: 8 }] };
    const [first, ...rest] = events();
    const all = [first, reply, ...rest].map((event, at) => ({ ...event, seq: at + 1 }) as Event);
    expect([gateOf(all).told, gateOf(events()).told]).toEqual([['vision'], []]);
  });

  it('says what was chosen, what was saved and where the run went', () => {
    const row = gateOf(events('C', { chosen: 'C', committed: [{ path: 'brief.md' }] }));
    expect([row.answer, gateOutcome(row.result)?.chosen, gateOutcome(row.result)?.committed[0]?.path, row.moved?.to]).toEqual(['C', 'C', 'brief.md', 'users']);
  });
});

describe('the card of a gate', () => {
  beforeAll(() => setLanguage('en'));

  function card(row: AskRow, active: boolean): { target: HTMLElement; said: string[]; end: () => void } {
    const target = document.body.appendChild(document.createElement('div'));
    const said: string[] = [];
    const props = { row, journal: { kind: 'run' as const, id: 'r' }, name: 'n', nodeTitle: (id: string) => `Step ${id}`, active, busy: false, onanswer: (text: string) => void said.push(text) };
    const part = mount(GateCard, { target, props });
    flushSync();
    return { target, said, end: () => (void unmount(part), target.remove()) };
  }
  const press = (key: string, on: EventTarget = document.body) => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));

  it('shows its drafts as Markdown and answers by keys from anywhere', () => {
    const { target, said, end } = card(gateOf(events()), true);
    expect(target.querySelector('.draft h1')?.textContent).toBe('Vision');
    expect([...target.querySelectorAll('.option b')].map((one) => one.textContent)).toEqual(['Advanced Elicitation', 'Party Mode', 'Continue']);
    press('c');
    press('2');
    press('x');
    target.querySelector<HTMLElement>('.option')?.click();
    expect(said).toEqual(['C', 'P', 'A']);
    end();
    press('c');
    expect(said).toHaveLength(3);
  });

  it('takes no key from a field, from a shortcut or when it is over', () => {
    const { target, said, end } = card(gateOf(events()), true);
    press('c', target.appendChild(document.createElement('textarea')));
    press('g');
    press('p');
    expect(said).toEqual([]);
    end();
    const past = card(gateOf(events()), false);
    press('c');
    expect(past.said).toEqual([]);
    past.end();
  });

  it('says what was chosen and what was saved', () => {
    const { target, end } = card(gateOf(events('C', { chosen: 'C', committed: [{ path: 'brief.md', bytes: 21 }] })), false);
    expect(target.textContent).toContain('You chose C Continue');
    expect(target.textContent).toContain('brief.md');
    expect(target.textContent).toContain('Step users');
    expect(target.querySelector('.draft h1')).toBeNull();
    end();
  });

  it('repeats an answer in words', () => {
    const { target, end } = card(gateOf(events('make it shorter', { chosen: null, words: 'make it shorter' })), false);
    expect(target.querySelector('.said')?.textContent).toContain('make it shorter');
    end();
  });
});
