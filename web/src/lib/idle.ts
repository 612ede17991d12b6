/** State of a journal that no worker is driving. */

import { lookOfPhase, type Look } from './status';
import type { View } from './view';

/** Returns true if a limit stopped the run: it waits, but not for an answer. */
export const isAtLimit = ({ phase, reason }: View): boolean => phase === 'WaitingUser' && /^(?:limit-|loop|stalled|empty-reply)/.test(reason ?? '');

/** Returns the look of an idle journal. One that ends while running lost its process; a conversation without a question is ready. */
export function idleLook(view: View, isConversation: boolean): Look {
  const look = lookOfPhase(view.phase === 'Running' ? 'Paused' : view.phase, view.question?.question.kind);
  return isConversation && look === 'waiting' && !view.question && !isAtLimit(view) ? 'ready' : look;
}
