/** Slash commands: display of the server's reaction, and commands that the page runs itself. */

import type { Reaction } from '../lib/api/types';
import { compact, t } from '../lib/i18n/index.svelte';
import { shell } from '../lib/state/shell.svelte';
import { toast } from '../lib/state/toasts.svelte';
import type { Work } from '../lib/state/work.svelte';

export function showReaction(work: Work, reaction: Reaction): void {
  const say = (message: string): void => toast({ tone: 'ok', message });
  if (reaction.kind === 'help') shell.sheet = 'keys';
  else if (reaction.kind === 'no-run') say(t('reaction.noRun'));
  else if (reaction.kind === 'status') {
    const { turns = 0, usage = { inputTokens: 0, outputTokens: 0 } } = work.recipient?.view ?? {};
    say(t('reaction.status', { turns, tokens: compact(usage.inputTokens + usage.outputTokens) }));
  } else if (reaction.kind === 'refused') toast({ tone: 'err', code: 'command', message: reaction.message });
  else if (reaction.kind === 'agents') toast({ tone: 'wait', message: t('reaction.agents', { agents: reaction.agents.join(', ') }) });
  else if (reaction.kind === 'resumed' || reaction.kind === 'started' || reaction.kind === 'left') void work.refresh().catch(() => undefined);
}

/** Runs a command in a run outside of a conversation, or while the model is at work. */
export function runCommand(work: Work, command: string): void {
  const say = (message: string): void => toast({ tone: 'wait', message });
  if (command === 'help' || command === 'status') showReaction(work, { kind: command });
  else if (command === 'pause' || command === 'stop') {
    if (work.atWork) void work[command]();
    else say(t('reaction.rests'));
  } else if (command !== 'resume') say(t('reaction.alone', { command: `/${command}` }));
  else if (work.canResume) void work.resume();
  else say(t(work.atWork ? 'reaction.works' : 'reaction.noRun'));
}
