/** Works of a project: conversations, and runs outside of conversations. */

import { api } from './api/client';
import type { Conversation, RunItem } from './api/types';
import { app } from './state/app.svelte';
import { go, type Route } from './state/route.svelte';
import { attempt } from './state/toasts.svelte';

export interface WorkItem {
  id: string;
  to: Route;
  time: string;
  conversation?: Conversation;
  run?: RunItem;
}

export const conversationItem = (project: string, conversation: Conversation): WorkItem => ({
  id: conversation.id,
  to: { name: 'conversation', project, id: conversation.id },
  time: conversation.updated ?? conversation.created,
  conversation,
});

/** Returns the route of the work that a run belongs to: its conversation, or the run itself. */
export const routeOfRun = ({ id, project, conversation }: Pick<RunItem, 'id' | 'project' | 'conversation'>): Extract<Route, { name: 'conversation' | 'run' }> =>
  conversation ? { name: 'conversation', project, id: conversation } : { name: 'run', project, id };

/** Resumes a run and shows its work. */
export async function resumeRun(run: RunItem): Promise<void> {
  if (await attempt(() => api.resume({ kind: 'run', id: run.id }))) go(routeOfRun(run));
}

/** Lists the works of a project, latest first, as the side panel and the shortcuts order them. */
export function works(project: string): WorkItem[] {
  const alone = app.runs.filter((run) => !run.conversation);
  const runs = alone.map((run): WorkItem => ({ id: run.id, to: { name: 'run', project, id: run.id }, time: run.updated ?? run.created, run }));
  return [...app.conversations.map((conversation) => conversationItem(project, conversation)), ...runs].sort((one, other) => other.time.localeCompare(one.time));
}
