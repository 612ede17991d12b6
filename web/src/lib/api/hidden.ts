/**
 * A browser gives all pages of a host six connections. Pages that nobody sees share two of them for their streams: who gets
 * none gives its stream up, and goes on behind the last frame when it is seen again.
 */

const PLACES = ['crewagent-hidden-0', 'crewagent-hidden-1'];

let leave: (() => void) | null = null;

/** Holds a place until the page is seen, if it is free. */
function take(place: string): Promise<boolean> {
  return new Promise((done) => {
    const held = navigator.locks.request(place, { ifAvailable: true }, (lock) => {
      done(lock !== null);
      return lock && document.hidden ? new Promise<void>((seen) => (leave = seen)) : undefined;
    });
    held.catch(() => done(true));
  });
}

async function change(rest: () => void): Promise<void> {
  leave?.();
  leave = null;
  if (!document.hidden) return;
  for (const place of PLACES) if (await take(place)) return;
  if (document.hidden) rest();
}

/** Lets the stream rest while the page is hidden and others have the places. */
export function shareConnections(rest: () => void): void {
  if ('locks' in navigator) document.addEventListener('visibilitychange', () => void change(rest));
}
