/**
 * Measures a page, and compares the results with goals. The goals are for an idle machine. Other programs may run on it, so their
 * number per processor is measured while this one does nothing. With one of them this program gets half of the processor, so the
 * goal is twice as long, and so on, at most ten times. All of it is printed.
 */

import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

/** The goal of 33 ms is two frames of a screen with 60 of them a second. */
export const TWO_FRAMES_MS = 33.4;
/** A goal is at most so many times as long. */
const MAX_SCALE = 10;
/** How often the machine is looked at, and how many milliseconds lie between. */
const [LOOKS, LOOK_INTERVAL_MS] = [10, 50];

/** Counts how many other programs want each processor, for half a second in which we do nothing. */
async function countRivals() {
  let wanting = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    await new Promise((done) => setTimeout(done, LOOK_INTERVAL_MS));
    const text = await readFile('/proc/stat', 'utf8').catch(() => '');
    // This process is running, too.
    wanting += Math.max(0, Number(/^procs_running (\d+)/m.exec(text)?.[1] ?? 1) - 1);
  }
  return wanting / LOOKS / availableParallelism();
}

/** Returns the value below which this share of the values is. */
export function percentile(values, share) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Collects measurements, and prints each as it comes. */
export class Report {
  missed = [];

  /** Measures several times. The goal is for `share` of the values: 0.5 for the median, 0.95 for p95. */
  async measure(what, { goal, times = 5, share = 0.5, unit = 'ms' }, take) {
    const rivals = await countRivals();
    const values = [];
    for (let time = 0; time < times; time += 1) values.push(...[await take()].flat());
    const [p50, p95] = [percentile(values, 0.5), percentile(values, 0.95)];
    const scaled = goal === undefined ? undefined : unit === 'ms' ? goal * Math.min(1 + rivals, MAX_SCALE) : goal;
    const isMissed = scaled !== undefined && percentile(values, share) > scaled;
    if (isMissed) this.missed.push(what);
    const judged = goal === undefined ? 'no goal' : `goal ${goal} ${unit} for p${share * 100}, ratio ${(percentile(values, share) / goal).toFixed(2)}${isMissed ? ', MISSED' : ''}`;
    console.log(`${what}: p50 ${p50.toFixed(1)} ${unit}, p95 ${p95.toFixed(1)} ${unit}, n = ${values.length}; ${judged}; ${rivals.toFixed(1)} other programs at each processor`);
  }
}

/** Returns the spans of so many frames, in milliseconds, while something is done in each of them. */
export const measureFrames = (tab, count, each = () => undefined, argument = undefined) =>
  tab.evaluate(
    async ([most, source, given]) => {
      const measure = globalThis.eval(`(${source})`);
      const spans = [];
      let last = await new Promise((done) => requestAnimationFrame(done));
      for (let frame = 0; frame < most; frame += 1) {
        measure(frame, given);
        const now = await new Promise((done) => requestAnimationFrame(done));
        spans.push(now - last);
        last = now;
      }
      return spans;
    },
    [count, String(each), argument],
  );

/** Waits for so many frames of a page. */
export const waitFrames = (tab, count) => measureFrames(tab, count).then(() => undefined);

/** Returns the megabytes that the page keeps after its garbage was collected. */
export async function measureHeap(tab) {
  const session = await tab.context().newCDPSession(tab);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1e6;
}
