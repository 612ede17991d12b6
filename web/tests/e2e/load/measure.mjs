/**
 * Measures a page. The goals are for a machine that is free. Other programs may be at work on the same one: how many want each
 * processor is measured while nothing of ours goes on. With one of them we get half of it, so the goal is twice as long, and
 * so on, at most ten times. What misses it is measured again. All of it is printed.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';

/** The goal of 33 ms is two frames of a screen with 60 of them a second. */
export const TWO_FRAMES = 33.4;
/** A goal is at most so many times as long. */
const MOST_PATIENCE = 10;
/** How often the machine is looked at, and how many milliseconds lie between. */
const [LOOKS, APART] = [10, 50];

/** How many other programs want each processor, for half a second in which we do nothing. */
export async function others() {
  let wanting = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    await new Promise((done) => setTimeout(done, APART));
    const text = await readFile('/proc/stat', 'utf8').catch(() => '');
    // This one is running, too.
    wanting += Math.max(0, Number(/^procs_running (\d+)/m.exec(text)?.[1] ?? 1) - 1);
  }
  return wanting / LOOKS / availableParallelism();
}

/** Measures milliseconds up to three times, until they are within the goal. */
export async function judge(what, goal, measure, known) {
  const told = [];
  for (let time = 0; time < 3; time += 1) {
    const rivals = known ?? (await others());
    const value = await measure();
    told.push(`${value.toFixed(1)} ms with ${rivals.toFixed(1)} others at each processor`);
    if (value <= goal * Math.min(1 + rivals, MOST_PATIENCE)) {
      console.log(`${what}: ${told.join('; ')}; the goal is ${goal} ms`);
      return;
    }
  }
  assert.fail(`${what}: ${told.join('; ')}; the goal is ${goal} ms`);
}

/** The p95 of so many frames, in milliseconds, while something is done in each of them. */
export const frames = (tab, count, each = () => undefined, argument = undefined) =>
  tab.evaluate(
    async ([most, source, given]) => {
      const act = globalThis.eval(`(${source})`);
      const spans = [];
      let last = await new Promise((done) => requestAnimationFrame(done));
      for (let frame = 0; frame < most; frame += 1) {
        act(frame, given);
        const now = await new Promise((done) => requestAnimationFrame(done));
        spans.push(now - last);
        last = now;
      }
      spans.sort((one, other) => one - other);
      return spans[Math.floor(most * 0.95)];
    },
    [count, String(each), argument],
  );

/** Megabytes that the page keeps after its rubbish was taken out. */
export async function heap(tab) {
  const session = await tab.context().newCDPSession(tab);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1e6;
}
