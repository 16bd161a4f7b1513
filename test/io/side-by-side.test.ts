import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runSideBySide, settleAll } from '../../src/io/side-by-side.js';

test('results are in the order of the list, whichever finishes first', async () => {
  const waits = [20, 0, 10];
  const work = (ms: number) => new Promise<number>((resolve) => setTimeout(() => resolve(ms), ms));
  expect(await runSideBySide(3, waits, work)).toEqual(waits);
  expect(await runSideBySide(3, [], work)).toEqual([]);
});

test('after a failure no further work starts, and the first error is thrown once running work has ended', async () => {
  const begun: number[] = [];
  let ended = false;
  const work = async (one: number) => {
    begun.push(one);
    if (one === 2) throw new Error('second');
    await setImmediate();
    ended = true;
    throw new Error('first');
  };
  await expect(runSideBySide(2, [1, 2, 3, 4], work)).rejects.toThrow('second');
  expect([begun, ended]).toEqual([[1, 2], true]);
});

test('settleAll returns the results of all works in order', async () => {
  expect(await settleAll([Promise.resolve(1), setImmediate('two')])).toEqual([1, 'two']);
});

test('settleAll throws the first failure of the list, but only after all other works have ended', async () => {
  const ended: string[] = [];
  const late = setImmediate().then(() => {
    ended.push('late');
    throw new Error('late');
  });
  const works = [Promise.reject(new Error('early')), late];
  await expect(settleAll(works)).rejects.toThrow('early');
  expect(ended).toEqual(['late']);
});
