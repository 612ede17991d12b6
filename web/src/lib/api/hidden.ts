/**
 * A browser gives all pages of a host six connections. Hidden pages share two of them for their streams: a page without a
 * slot closes its stream, and resumes after the last frame when it is visible again.
 */

const SLOTS = ['crewagent-hidden-0', 'crewagent-hidden-1'];

let release: (() => void) | null = null;

/** Holds a slot until the page is visible. Returns false if another page holds it. */
function take(slot: string): Promise<boolean> {
  return new Promise((done) => {
    const held = navigator.locks.request(slot, { ifAvailable: true }, (lock) => {
      done(lock !== null);
      return lock && document.hidden ? new Promise<void>((seen) => (release = seen)) : undefined;
    });
    held.catch(() => done(true));
  });
}

async function change(suspend: () => void): Promise<void> {
  release?.();
  release = null;
  if (!document.hidden) return;
  for (const slot of SLOTS) if (await take(slot)) return;
  if (document.hidden) suspend();
}

/** Suspends the stream while the page is hidden and other pages hold the slots. */
export function shareConnections(suspend: () => void): void {
  if ('locks' in navigator) document.addEventListener('visibilitychange', () => void change(suspend));
}
