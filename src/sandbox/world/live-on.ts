import { setTimeout as wait } from 'node:timers/promises';
import type { SimulatedClock } from '../clock.js';
import { catchUpWorld } from './advance-world.js';
import type { World } from './world.js';

/** Wall time between two looks at the clock. */
const TICK_MS = 1000;
/** A step takes a tenth of the time at most, however large the world: the rest is for its callers. */
const REST = 9;

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

const sleepUnlessStopped: Sleep = (ms, signal) => wait(ms, undefined, { signal, ref: false }).catch(() => {});

/** Lets the world change as its clock runs, until it is stopped. */
export async function liveOn(
  world: World,
  clock: SimulatedClock,
  stop: AbortSignal,
  sleep: Sleep = sleepUnlessStopped,
): Promise<void> {
  let owed = 0;
  let took = 0;
  while (!stop.aborted) {
    await sleep(Math.max(TICK_MS, REST * took), stop);
    if (stop.aborted) return;
    const started = performance.now();
    owed = await catchUpWorld(world, clock, owed);
    took = performance.now() - started;
  }
}
