/** How a journal rests that nobody is at work on. */

import { lookOfPhase, type Look } from './status';
import type { View } from './view';

/** Whether a limit holds it: it waits, but not for an answer. */
export const isAtLimit = ({ phase, reason }: View): boolean => phase === 'WaitingUser' && /^(?:limit-|loop|empty-reply)/.test(reason ?? '');

/** One that ends at work was left by its process. Talk that asks nothing waits for nothing in particular. */
export function idleLook(view: View, isConversation: boolean): Look {
  const look = lookOfPhase(view.phase === 'Running' ? 'Paused' : view.phase, view.question?.question.kind);
  return isConversation && look === 'waiting' && !view.question && !isAtLimit(view) ? 'ready' : look;
}
