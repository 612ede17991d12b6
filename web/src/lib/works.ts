/** Works of a project: conversations, and runs outside of conversations. */

import type { Conversation, RunItem } from './api/types';
import { app } from './state/app.svelte';
import type { Route } from './state/route.svelte';

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

/** Lists the works of a project, latest first, as the side panel and the shortcuts order them. */
export function works(project: string): WorkItem[] {
  const alone = app.runs.filter((run) => !run.conversation);
  const runs = alone.map((run): WorkItem => ({ id: run.id, to: { name: 'run', project, id: run.id }, time: run.updated ?? run.created, run }));
  return [...app.conversations.map((conversation) => conversationItem(project, conversation)), ...runs].sort((one, other) => other.time.localeCompare(one.time));
}
