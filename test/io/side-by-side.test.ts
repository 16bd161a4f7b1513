import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runSideBySide, settleAll } from '../../src/io/side-by-side.js';

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
    await setImmediate();
    ended = true;
    throw new Error('first');
  };
  await expect(runSideBySide(2, [1, 2, 3, 4], work)).rejects.toThrow('second');
  expect([begun, ended]).toEqual([[1, 2], true]);
});

test('gives what each of the works came to, in their order', async () => {
  expect(await settleAll([Promise.resolve(1), setImmediate('two')])).toEqual([1, 'two']);
});

test('throws the first failure of the list when the other works have ended, and not before', async () => {
  const ended: string[] = [];
  const late = setImmediate().then(() => {
    ended.push('late');
    throw new Error('late');
  });
  const works = [Promise.reject(new Error('early')), late];
  await expect(settleAll(works)).rejects.toThrow('early');
  expect(ended).toEqual(['late']);
});
