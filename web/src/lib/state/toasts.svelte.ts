/** Short messages in the corner, and words for screen readers. */

import { faultOf } from '../api/client';
import type { Fault } from '../api/types';

export interface Toast {
  id: number;
  tone: 'ok' | 'err' | 'wait';
  /** Which kind of fault, where it is one. */
  code?: Fault['code'];
  message: string;
  hint?: string;
  action?: { label: string; run: () => void };
}

const MOST = 3;
const SECONDS = 5;

let last = 0;
let shown = $state.raw<Toast[]>([]);
let text = $state('');

/** Where messages can be shown, the one in front last. Behind an open dialog nobody could use them. */
let hosts = $state.raw<symbol[]>([]);

export const toasts = (): Toast[] => shown;
export const isFront = (host: symbol): boolean => hosts.at(-1) === host;

/** Makes a place the one in front, until it goes. */
export function showAt(host: symbol): () => void {
  hosts = [...hosts, host];
  return () => (hosts = hosts.filter((one) => one !== host));
}
export const announcement = (): string => text;

/** Tells a screen reader that something changed. */
export function announce(message: string): void {
  // The same words once more are heard only if they differ.
  text = message === text ? `${message}\u00a0` : message;
}

export function toast(one: Omit<Toast, 'id'>): void {
  last += 1;
  const id = last;
  // Errors stay until they are dismissed. The same one again is still one.
  const before = shown.filter((old) => old.tone !== 'err' || one.tone !== 'err' || old.message !== one.message);
  const all = [...before, { ...one, id }];
  const errors = all.filter((each) => each.tone === 'err').length;
  const others = all.filter((each) => each.tone !== 'err').slice(-Math.max(1, MOST - errors));
  shown = all.filter((each) => each.tone === 'err' || others.includes(each));
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
    toast({ tone: 'err', ...faultOf(thrown) });
    return undefined;
  }
}
