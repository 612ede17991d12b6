/** What came of a command, told to whoever typed it; and what commands do where no conversation takes them. */

import type { Came } from '../lib/api/types';
import { compact, t } from '../lib/i18n/index.svelte';
import { shell } from '../lib/state/shell.svelte';
import { toast } from '../lib/state/toasts.svelte';
import type { Work } from '../lib/state/work.svelte';

export function tell(work: Work, came: Came): void {
  const say = (message: string): void => toast({ tone: 'ok', message });
  if (came.kind === 'help') shell.sheet = 'keys';
  else if (came.kind === 'no-run') say(t('came.noRun'));
  else if (came.kind === 'status') {
    const { turns = 0, usage = { inputTokens: 0, outputTokens: 0 } } = work.speaker?.view ?? {};
    say(t('came.status', { turns, tokens: compact(usage.inputTokens + usage.outputTokens) }));
  } else if (came.kind === 'refused') toast({ tone: 'err', code: 'command', message: came.message });
  else if (came.kind === 'agents') toast({ tone: 'wait', message: t('came.agents', { agents: came.agents.join(', ') }) });
  else if (came.kind === 'resumed' || came.kind === 'started' || came.kind === 'left') void work.refresh().catch(() => undefined);
}

/** Does what a command says in a run that belongs to no conversation, or holds what is at work. */
export function obey(work: Work, order: string): void {
  const say = (message: string): void => toast({ tone: 'wait', message });
  if (order === 'help' || order === 'status') tell(work, { kind: order });
  else if (order === 'pause' || order === 'stop') {
    if (work.atWork) void work[order]();
    else say(t('came.rests'));
  } else if (order !== 'resume') say(t('came.alone', { command: `/${order}` }));
  else if (work.canGoOn) void work.resume();
  else say(t(work.atWork ? 'came.works' : 'came.noRun'));
}
