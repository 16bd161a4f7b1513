import { afterEach, describe, expect, test } from 'vitest';
import { type RunEnd, SyncTrigger } from '../../src/wings/webhook/sync-trigger.js';
import { createLogIo, NOW } from './delivery.js';

const DELAY_MS = 10_000;
const MINUTE_MS = 60_000;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A trigger whose waits and runs end when the test ends them. */
function start() {
  const { io, logs } = createLogIo();
  const waits: { ms: number; end: () => void }[] = [];
  const runs: { signal: AbortSignal; end: (end: RunEnd) => void; fail: (error: Error) => void }[] = [];
  io.sleep = (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => reject(signal?.reason);
      signal?.addEventListener('abort', stop);
      const end = () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      };
      waits.push({ ms, end });
    });
  const run = (signal: AbortSignal) =>
    new Promise<RunEnd>((resolve, reject) => {
      runs.push({ signal, end: resolve, fail: reject });
      signal.addEventListener('abort', () => resolve({ outcome: 'failed' }));
    });
  trigger = new SyncTrigger(run, DELAY_MS, io);
  return { trigger, waits, runs, logs };
}

let trigger: SyncTrigger;
afterEach(() => trigger.close());

/** Ends the latest wait and the run after it. Returns the intended duration of the wait. */
async function pass({ waits, runs }: ReturnType<typeof start>, end: RunEnd): Promise<number | undefined> {
  await settle();
  const wait = waits.at(-1);
  wait?.end();
  await settle();
  runs.at(-1)?.end(end);
  await settle();
  return wait?.ms;
}

describe('the runs that events trigger', () => {
  test('are one run for all events within the delay, and one more for the events during that run', async () => {
    const world = start();
    for (let n = 0; n < 5; n++) world.trigger.want();
    await settle();
    expect([world.waits.length, world.runs.length]).toEqual([1, 0]);
    world.waits[0]?.end();
    await settle();
    expect(world.runs).toHaveLength(1);
    for (let n = 0; n < 5; n++) world.trigger.want();
    await settle();
    expect(world.waits).toHaveLength(1); // never two at a time
    world.runs[0]?.end({ outcome: 'done' });
    await settle();
    expect(await pass(world, { outcome: 'done' })).toBe(DELAY_MS);
    await settle();
    expect([world.waits.length, world.runs.length]).toEqual([2, 2]);
  });

  test("are repeated with growing delays if they couldn't work", async () => {
    const world = start();
    world.trigger.want();
    for (let n = 0; n < 7; n++) await pass(world, { outcome: n < 6 ? 'later' : 'done' });
    expect(world.waits.map(({ ms }) => ms / MINUTE_MS)).toEqual([1 / 6, 1, 2, 4, 8, 16, 30]);
  });

  test('wait for the next event after a failure, which never stops the trigger', async () => {
    const world = start();
    world.trigger.want();
    await pass(world, { outcome: 'failed' });
    await settle();
    expect(world.waits).toHaveLength(1);
    world.trigger.want();
    await settle();
    world.waits[1]?.end();
    await settle();
    world.runs[1]?.fail(new Error('spawn EAGAIN'));
    await settle();
    expect(world.logs).toMatchObject([{ event: 'webhook.sync_failed', reason: 'spawn EAGAIN' }]);
    world.trigger.want();
    expect(await pass(world, { outcome: 'done' })).toBe(2 * MINUTE_MS);
    expect(world.runs).toHaveLength(3);
  });

  test('are stopped with the receiver', async () => {
    const world = start();
    world.trigger.want();
    await settle();
    world.waits[0]?.end();
    await settle();
    await world.trigger.close();
    expect(world.runs[0]?.signal.aborted).toBe(true);
  });

  test("don't start if the receiver stops during the wait", async () => {
    const world = start();
    world.trigger.want();
    await settle();
    await world.trigger.close();
    expect(world.runs).toHaveLength(0);
  });
});

test('the wait is as long as the service says, if that is longer', async () => {
  const world = start();
  world.trigger.want();
  const at = (minutes: number) => new Date(NOW.getTime() + minutes * MINUTE_MS);
  for (const minutes of [100, -1, -1]) await pass(world, { outcome: 'later', nextRunAt: at(minutes) });
  await pass(world, { outcome: 'done', nextRunAt: at(100) });
  world.trigger.want();
  await pass(world, { outcome: 'done' });
  expect(world.waits.map(({ ms }) => ms / MINUTE_MS)).toEqual([1 / 6, 100, 2, 4, 1 / 6]);
});
