/**
 * Measures a page. The goals are for a machine that is free. Other programs may be at work on the same one: how much they take is
 * measured while nothing of ours goes on, the goal is longer by as much, and what misses it is measured again. All of it
 * is printed.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

/** The goal of 33 ms is two frames of a screen with 60 of them a second. */
export const TWO_FRAMES = 33.4;
/** A goal is at most five times as long. */
const MOST_TAKEN = 0.8;

async function processors() {
  const text = await readFile('/proc/stat', 'utf8').catch(() => 'cpu 0 0 0 1');
  const [, ...ticks] = text.split('\n', 1)[0].split(/\s+/).map(Number);
  return { idle: ticks[3] + (ticks[4] ?? 0), all: ticks.reduce((one, other) => one + other, 0) };
}

/** The share of the processors that other programs take, for half a second in which we do nothing. */
export async function taken() {
  const before = await processors();
  await new Promise((done) => setTimeout(done, 500));
  const after = await processors();
  return after.all === before.all ? 0 : 1 - (after.idle - before.idle) / (after.all - before.all);
}

/** Measures milliseconds up to three times, until they are within the goal. */
export async function judge(what, goal, measure, others) {
  const told = [];
  for (let time = 0; time < 3; time += 1) {
    const share = others ?? (await taken());
    const value = await measure();
    told.push(`${value.toFixed(1)} ms with ${(share * 100).toFixed(0)} % taken by others`);
    if (value <= goal / (1 - Math.min(share, MOST_TAKEN))) {
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
