import { expect, test } from 'vitest';
import { runSideBySide } from '../../src/io/side-by-side.js';

test('results come in the order of the list, whichever ends first', async () => {
  const waits = [20, 0, 10];
  const work = (ms: number) => new Promise<number>((resolve) => setTimeout(() => resolve(ms), ms));
  expect(await runSideBySide(3, waits, work)).toEqual(waits);
  expect(await runSideBySide(3, [], work)).toEqual([]);
});

test('after a failure nothing more begins, and the first error is thrown when what was under way has ended', async () => {
  const begun: number[] = [];
  let ended = false;
  const work = async (one: number) => {
    begun.push(one);
    if (one === 2) throw new Error('second');
    await new Promise((resolve) => setImmediate(resolve));
    ended = true;
    throw new Error('first');
  };
  await expect(runSideBySide(2, [1, 2, 3, 4], work)).rejects.toThrow('second');
  expect([begun, ended]).toEqual([[1, 2], true]);
});
