/**
 * A browser gives all pages of a host six connections. Pages that nobody sees share two of them for their streams: who gets
 * none gives its stream up, and goes on behind the last frame when it is seen again.
 */

const SLOTS = ['crewagent-hidden-0', 'crewagent-hidden-1'];

let release: (() => void) | null = null;

/** Holds a place until the page is seen, if it is free. */
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

/** Lets the stream rest while the page is hidden and others have the places. */
export function shareConnections(suspend: () => void): void {
  if ('locks' in navigator) document.addEventListener('visibilitychange', () => void change(suspend));
}
