import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { settleAll } from '../../src/io/side-by-side.js';

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
