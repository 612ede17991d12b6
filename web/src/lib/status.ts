/** The nine states that everything is shown in: icon, word and colour are the same everywhere. */

import type { Phase, QuestionKind, RunItem, Status } from './api/types';
import type { Work } from './state/work.svelte';

export type Look =
  | 'ready'
  | 'running'
  | 'waiting'
  | 'approval'
  | 'paused'
  | 'done'
  | 'failed'
  | 'refused'
  | 'skipped';

export function lookOfPhase(phase: Phase | null, question?: QuestionKind): Look {
  switch (phase) {
    case 'Running':
      return 'running';
    case 'WaitingUser':
      return question === 'approval' ? 'approval' : 'waiting';
    case 'Paused':
      return 'paused';
    case 'Completed':
      return 'done';
    case 'Failed':
      return 'failed';
    case null:
      return 'ready';
  }
}

/** How a run looks in a list. */
export const lookOfRun = ({ atWork, status, asks }: Pick<RunItem, 'atWork' | 'status' | 'asks'>): Look =>
  atWork ? 'running' : status === 'waiting-user' && asks === 'approval' ? 'approval' : lookOfStatus(status);

function lookOfStatus(status: Status): Look {
  switch (status) {
    case 'running':
      return 'running';
    case 'waiting-user':
      return 'waiting';
    case 'interrupted':
    case 'paused':
      return 'paused';
    case 'completed':
      return 'done';
    case 'failed':
      return 'failed';
    case 'unknown':
      return 'ready';
  }
}

/** Whether a work rests, and its journal ends at work: its process was ended. */
export const wasCut = ({ look, speaker }: Pick<Work, 'look' | 'speaker'>): boolean => look === 'paused' && speaker?.view.phase === 'Running';

/** Whether Resume helps a work that is looked at. A limit leaves the run waiting, but not for an answer. */
export const canGoOn = (work: Work): boolean => {
  const isHeld = work.look === 'waiting' && /^(?:limit-|loop|empty-reply)/.test(work.run?.view.reason ?? '');
  return (work.look === 'paused' || work.look === 'failed' || isHeld) && !work.atWork && work.replay === null && !work.blocked;
};

/** Whether a run rests in a way that Resume helps against. */
export const canResume = (run: RunItem): boolean => !run.atWork && !run.heldBy && ['paused', 'interrupted', 'failed'].includes(run.status);
