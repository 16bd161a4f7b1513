import { expect, test } from 'vitest';
import { createRateBucket, type RateBucket } from '../../src/api/rate-bucket.js';
import { createFakeIo } from './fake-io.js';

/** A bucket of this rate; `onSleep` happens when a wait begins. */
function open(rate?: number | null, onSleep?: (bucket: RateBucket) => void) {
  const io = createFakeIo();
  const bucket: RateBucket = createRateBucket({
    ...io,
    sleep: async (ms) => {
      onSleep?.(bucket);
      await io.sleep(ms);
    },
  });
  if (rate !== undefined) bucket.setRate(rate);
  return { io, bucket };
}

test('before the plan is known, the rate is two calls a second', async () => {
  const { io, bucket } = open();
  for (let call = 0; call < 3; call += 1) await bucket.take();
  expect(io.slept).toEqual([500, 500]);
});

test('concurrent calls are paced in the order of their requests', async () => {
  const { io, bucket } = open(10);
  const start = io.now().getTime();
  const times: number[] = [];
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      await bucket.take();
      times.push(io.now().getTime() - start);
    }),
  );
  expect(times).toEqual([0, 100, 200, 300, 400]);
});

test('idle time is not saved up for a burst', async () => {
  const { io, bucket } = open(10);
  await bucket.take();
  io.pass(60_000);
  await bucket.take();
  await bucket.take();
  expect(io.slept).toEqual([100]);
});

test('an invalid rate falls back to the careful default', async () => {
  for (const rate of [0, -1, Number.NaN]) {
    const { io, bucket } = open(rate);
    await bucket.take();
    await bucket.take();
    expect(io.slept).toEqual([500]);
  }
});

test('a clock that is set back costs one interval at most', async () => {
  const { io, bucket } = open(10);
  await bucket.take();
  io.pass(-3_600_000);
  await bucket.take();
  expect(io.slept).toEqual([100]);
});

test("an aborted wait rejects and doesn't block the calls behind it", async () => {
  const { bucket } = open();
  await expect(bucket.take(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  await bucket.take();
});

test('a pause also holds a call that already waits, and may be extended during the wait', async () => {
  const pauses = [5000, 1000, 7000];
  const { io, bucket } = open(10, (one) => {
    const next = pauses.shift();
    if (next !== undefined) one.pause(next);
  });
  await bucket.take();
  await bucket.take();
  // The second pause ends within the first; the third begins during the sleep for the first.
  expect(io.slept).toEqual([100, 4900]);
  await bucket.take();
  expect(io.slept).toEqual([100, 4900, 100, 6900]);
});

test('a call that has waited for the pace waits only for the rest of a pause, not for the pace again', async () => {
  let pauses = [120];
  const { io, bucket } = open(10, (one) => {
    for (const ms of pauses) one.pause(ms);
    pauses = [];
  });
  await bucket.take();
  await bucket.take();
  expect(io.slept).toEqual([100, 20]);
});

test('a closed bucket opens at the end of its time, to the millisecond', async () => {
  const { io, bucket } = open(null);
  bucket.close(1000, new Error('come back later'));
  io.pass(999);
  await expect(bucket.take()).rejects.toThrow('come back later');
  io.pass(1);
  await bucket.take();
});

test('a pause counts from its own beginning, even if the clock was set back after an earlier pause', async () => {
  const { io, bucket } = open(null);
  bucket.pause(1000);
  io.pass(-3_600_000);
  bucket.pause(3000);
  await bucket.take();
  expect(io.slept).toEqual([3000]);
});

test('a closed bucket rejects waiting and new calls until its time is over', async () => {
  const { io, bucket } = open(10, (one) => one.close(600_000, new Error('come back later')));
  await bucket.take();
  await expect(bucket.take()).rejects.toThrow('come back later');
  await expect(bucket.take()).rejects.toThrow('come back later');
  io.pass(600_000);
  await bucket.take();
});
