/** Requests of the inspector: state, model requests, changes, reverts and forks of a run. */

import { get, post } from './client';
import type {
  Changes,
  ForkPreview,
  RevertStep,
  Hunks,
  Images,
  NewFork,
  RequestDetail,
  Requests,
  RevertHunk,
  StartedRun,
  StateTexts,
  RevertPlan,
  RevertResult,
} from './types';

const of = (run: string): string => `/api/runs/${encodeURIComponent(run)}`;

export const inspect = {
  state: (run: string) => get<StateTexts>(`${of(run)}/state`),
  requests: (run: string) => get<Requests>(`${of(run)}/requests`),
  requestOf: (run: string, turn: number) => get<RequestDetail>(`${of(run)}/requests/${turn}`),
  changes: (run: string) => get<Changes>(`${of(run)}/changes`),
  images: (run: string, path: string, seq?: number) => get<Images>(`${of(run)}/changes/images`, { path, seq }),
  revert: (run: string, path: string, ifMatchSha256: string | undefined, seq?: number) => post(`${of(run)}/changes/revert`, { path, seq, ifMatchSha256 }),
  hunks: (run: string, path: string) => get<Hunks>(`${of(run)}/changes/hunks`, { path }),
  revertHunk: (run: string, body: RevertHunk) => post(`${of(run)}/changes/revert-hunk`, body),
  previewRevert: (run: string, visit: number, onward: boolean) => get<RevertPlan>(`${of(run)}/changes/back`, { visit, onward }),
  revertStep: (run: string, body: RevertStep) => post<RevertResult>(`${of(run)}/changes/back`, body),
  previewFork: (run: string, event: number) => get<ForkPreview>(`${of(run)}/fork`, { event }),
  fork: (run: string, body: NewFork) => post<StartedRun>(`${of(run)}/fork`, body),
};
