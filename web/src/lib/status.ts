/** The nine states that everything is shown in: icon, word and colour are the same everywhere. */

import type { Phase, QuestionKind, RunItem, Status } from './api/types';

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

/** Whether a run rests in a way that Resume helps against. */
export const canResume = (run: RunItem): boolean => !run.atWork && !run.heldBy && ['paused', 'interrupted', 'failed'].includes(run.status);
