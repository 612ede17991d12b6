/** The nine states of the page. Each has the same icon, text and colour everywhere. */

import type { Phase, QuestionKind, RunItem, Status } from './api/types';

export type Look = 'ready' | 'running' | 'waiting' | 'approval' | 'paused' | 'done' | 'failed' | 'refused' | 'skipped';

const OF_PHASE: Record<Phase, Look> = { Running: 'running', WaitingUser: 'waiting', Paused: 'paused', Completed: 'done', Failed: 'failed' };
const OF_STATUS: Record<Status, Look> = {
  running: 'running',
  'waiting-user': 'waiting',
  interrupted: 'paused',
  paused: 'paused',
  completed: 'done',
  failed: 'failed',
  unknown: 'ready',
};

export function lookOfPhase(phase: Phase | null, question?: QuestionKind): Look {
  if (phase === 'WaitingUser' && question === 'approval') return 'approval';
  return phase === null ? 'ready' : OF_PHASE[phase];
}

/** Returns the state that a list shows for a run. */
export const lookOfRun = ({ atWork, status, asks }: Pick<RunItem, 'atWork' | 'status' | 'asks'>): Look =>
  atWork ? 'running' : status === 'waiting-user' && asks === 'approval' ? 'approval' : OF_STATUS[status];

/** Returns true if the user can resume the run. */
export const canResume = (run: RunItem): boolean => !run.atWork && !run.heldBy && ['paused', 'interrupted', 'failed'].includes(run.status);
