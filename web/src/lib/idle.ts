/** State of a journal that no worker is driving. */

import { lookOfPhase, type Look } from './status';
import type { View } from './view';

/** Returns true if the runtime stopped the run for this reason, and not a question or the user. */
export const isHaltReason = (reason: string | undefined): boolean => /^(?:limit-|loop|stalled|empty-reply)/.test(reason ?? '');

/** Returns true if a run that stopped for this reason resumes only with words of the user. */
export const needsWords = (reason: string | undefined): boolean => reason === 'loop' || reason === 'empty-reply';

/** Returns true if a limit stopped the run: it waits, but not for an answer. */
export const isAtLimit = ({ phase, reason }: View): boolean => phase === 'WaitingUser' && isHaltReason(reason);

/** Returns the look of an idle journal. One that ends while running lost its process; a conversation without a question is ready. */
export function idleLook(view: View, isConversation: boolean): Look {
  const look = lookOfPhase(view.phase === 'Running' ? 'Paused' : view.phase, view.question?.question.kind);
  return isConversation && look === 'waiting' && !view.question && !isAtLimit(view) ? 'ready' : look;
}
