import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/lib/api/types';
import { slashCommand } from '../../src/lib/slash';
import { reduce } from '../../src/lib/reduce';
import { idleLook } from '../../src/lib/idle';
import { emptyView } from '../../src/lib/view';

const time = '2026-11-15T09:49:46.935Z';

/** Returns the looks of a conversation and of a run after these events. */
function looks(...events: object[]): string[] {
  const view = reduce(emptyView(), events.map((event, at) => ({ ...event, seq: at + 1, time }) as Event));
  return [idleLook(view, true), idleLook(view, false)];
}

const phaseChanged = (phase: string, reason: string): object => ({ type: 'phase.changed', phase, reason });
const asks = (kind: string): object => ({ type: 'question', callId: 'c', turn: 1, question: 'May I?', kind });

describe('what rests', () => {
  it('is ready where nothing was said yet', () => {
    expect(looks()).toEqual(['ready', 'ready']);
  });

  it('waits for the user: talk only with a question, or where a limit holds it', () => {
    expect(looks(phaseChanged('WaitingUser', 'stop-point'))).toEqual(['ready', 'waiting']);
    expect(looks(phaseChanged('WaitingUser', 'limit-turns'))).toEqual(['waiting', 'waiting']);
    expect(looks(phaseChanged('WaitingUser', 'stalled'))).toEqual(['waiting', 'waiting']);
    expect(looks(asks('text'), phaseChanged('WaitingUser', 'question'))).toEqual(['waiting', 'waiting']);
    expect(looks(asks('approval'), phaseChanged('WaitingUser', 'question'))).toEqual(['approval', 'approval']);
  });

  it('has failed, was paused, or was left by its process', () => {
    expect(looks(phaseChanged('Failed', 'model'))).toEqual(['failed', 'failed']);
    expect(looks(phaseChanged('Paused', 'stopped'))).toEqual(['paused', 'paused']);
    expect(looks({ type: 'turn.started', turn: 1 })).toEqual(['paused', 'paused']);
  });
});

it.each([
  ['/menu', 'menu'],
  ['  *Menu \n', 'menu'],
  ['／stop', 'stop'],
  ['＊pause', 'pause'],
  ['/agent', 'agent'],
  ['/agent  dev ', 'agent'],
  ['/menu please', undefined],
  ['/agents', undefined],
  ['menu', undefined],
  ['/etc/hosts is missing', undefined],
  ['//menu', undefined],
  ['/', undefined],
])('%j is the command %s', (text, command) => {
  expect(slashCommand(text)).toBe(command);
});
