/** The works of a project: conversations, and runs that belong to none. */

import type { Conversation, RunItem } from './api/types';
import { app } from './state/app.svelte';
import type { Route } from './state/route.svelte';

export interface WorkItem {
  id: string;
  to: Route;
  time: string;
  talk?: Conversation;
  run?: RunItem;
}

export const ofTalk = (project: string, talk: Conversation): WorkItem => ({
  id: talk.id,
  to: { name: 'conversation', project, id: talk.id },
  time: talk.updated ?? talk.created,
  talk,
});

/** In the order in which they are shown and walked through: the latest first. */
export function works(project: string): WorkItem[] {
  const alone = app.runs.filter((run) => !run.conversation);
  const runs = alone.map((run): WorkItem => ({ id: run.id, to: { name: 'run', project, id: run.id }, time: run.updated ?? run.created, run }));
  return [...app.conversations.map((talk) => ofTalk(project, talk)), ...runs].sort((one, other) => other.time.localeCompare(one.time));
}
