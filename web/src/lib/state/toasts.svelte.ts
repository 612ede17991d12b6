/** Toasts, and announcements for screen readers. */

import { faultOf } from '../api/client';
import type { Fault } from '../api/types';

export interface Toast {
  id: number;
  tone: 'ok' | 'err' | 'wait';
  /** Code of a fault. */
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

/** Containers of toasts, the front one last: the user cannot reach toasts behind an open dialog. */
let hosts = $state.raw<symbol[]>([]);

export const toasts = (): Toast[] => shown;
export const isFront = (host: symbol): boolean => hosts.at(-1) === host;

/** Puts a container in front. Returns the function that removes it. */
export function showAt(host: symbol): () => void {
  hosts = [...hosts, host];
  return () => (hosts = hosts.filter((one) => one !== host));
}
export const announcement = (): string => text;

/** Announces a message to screen readers. */
export function announce(message: string): void {
  // Screen readers skip a repeated text unless it differs.
  text = message === text ? `${message}\u00a0` : message;
}

export function toast(one: Omit<Toast, 'id'>): void {
  last += 1;
  const id = last;
  // Errors stay until the user dismisses them. A repeated error replaces the first.
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

/** Withdraws toasts about a fault that is over. */
export function dismissCode(code: Fault['code']): void {
  shown = shown.filter((one) => one.code !== code);
}

/** Runs an operation and shows a toast if it fails. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    toast({ tone: 'err', ...faultOf(thrown) });
    return undefined;
  }
}
