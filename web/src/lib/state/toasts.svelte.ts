/** Short messages in the corner, and words for screen readers. */

import { faultOf } from '../api/client';

export interface Toast {
  id: number;
  tone: 'ok' | 'err' | 'wait';
  message: string;
  hint?: string;
  action?: { label: string; run: () => void };
}

const MOST = 3;
const SECONDS = 5;

let last = 0;
let shown = $state.raw<Toast[]>([]);
let said = $state('');

export const toasts = (): Toast[] => shown;
export const announced = (): string => said;

/** Tells a screen reader that something changed. */
export function announce(words: string): void {
  // The same words once more are heard only if they differ.
  said = words === said ? `${words}\u00a0` : words;
}

export function toast(one: Omit<Toast, 'id'>): void {
  last += 1;
  const id = last;
  shown = [...shown, { ...one, id }].slice(-MOST);
  // Errors stay until they are dismissed.
  if (one.tone !== 'err') setTimeout(() => dismiss(id), SECONDS * 1000);
}

export function dismiss(id: number): void {
  shown = shown.filter((one) => one.id !== id);
}

/** Does something, and shows why it failed if it does. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    const fault = faultOf(thrown);
    toast({ tone: 'err', message: fault.message, hint: fault.hint });
    return undefined;
  }
}
