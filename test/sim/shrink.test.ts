import { expect, test } from 'vitest';
import { drawLife, listOdd } from './draw-life.js';
import { shrinkLife } from './shrink.js';

test('a failing life is shrunk to the readings that it takes to fail, few items and one round', async () => {
  const life = drawLife(7);
  const failing = {
    ...life,
    rounds: 2,
    habits: { ...life.habits, replicas: 300 as const, stateTimes: 'kept' as const },
  };
  let tries = 0;
  const shrunk = await shrinkLife(failing, async ({ habits, items }) => {
    tries++;
    return habits.replicas === 300 && habits.stateTimes === 'kept' && items >= 8;
  });
  expect(listOdd(shrunk.habits)).toEqual({ replicas: 300, stateTimes: 'kept' });
  expect([shrunk.items, shrunk.rounds, shrunk.seed]).toEqual([8, 1, 7]);
  expect(tries).toBeLessThan(60);
});

test('a life that fails as it is for any reason keeps nothing that is not plain', async () => {
  const shrunk = await shrinkLife(drawLife(8), async () => true);
  expect(listOdd(shrunk.habits)).toEqual({});
  expect(shrunk.items).toBe(4);
});
