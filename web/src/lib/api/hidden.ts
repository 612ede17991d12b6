/**
 * A browser gives all pages of a host six connections. Hidden pages share two of them for their streams: a page without a
 * slot closes its stream, and resumes after the last frame when it is visible again.
 */

import type { Stream } from './stream';

const SLOTS = ['crewagent-hidden-0', 'crewagent-hidden-1'];

/** Gives the slot back that this page holds, if it holds one. */
let release: (() => Promise<void>) | null = null;

/** Takes a slot until it is released. Returns false if another page holds it. */
function take(slot: string): Promise<boolean> {
  return new Promise((done) => {
    const held = navigator.locks.request(slot, { ifAvailable: true }, (lock) => {
      if (lock === null) return done(false);
      return new Promise<void>((end) => {
        release = () => (end(), freed);
        done(true);
      });
    });
    // A page that may not use locks keeps its stream.
    const freed = held.then(
      () => undefined,
      () => done(true),
    );
  });
}

async function settle(stream: Pick<Stream, 'suspend' | 'resume'>): Promise<void> {
  if (!document.hidden) {
    stream.resume();
    await release?.();
    release = null;
    return;
  }
  if (release) return;
  for (const slot of SLOTS) if (await take(slot)) return stream.resume();
  if (document.hidden) stream.suspend();
}

/** Suspends the stream while the page is hidden and other pages hold the slots. Resolves once this is settled for the first time. */
export function shareConnections(stream: Pick<Stream, 'suspend' | 'resume'>): Promise<void> {
  if (!('locks' in navigator)) return Promise.resolve();
  // One after the other: a page that is shown and hidden fast must not take both slots.
  let settled = Promise.resolve();
  const change = (): Promise<void> => (settled = settled.then(() => settle(stream)));
  document.addEventListener('visibilitychange', () => void change());
  // A page that was opened in the background is hidden from the start.
  return change();
}
