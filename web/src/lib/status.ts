/** The nine states of the page. Each has the same icon, text and colour everywhere. */

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

/** Returns the state that a list shows for a run. */
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

/** Returns true if the user can resume the run. */
export const canResume = (run: RunItem): boolean => !run.atWork && !run.heldBy && ['paused', 'interrupted', 'failed'].includes(run.status);
