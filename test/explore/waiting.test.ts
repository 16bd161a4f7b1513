import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withVariables } from '../../src/explore/question.js';
import { Snapshot } from '../../src/explore/snapshot.js';
import { openLake } from '../../src/lake/lake.js';
import { tellMarket } from './explored.js';

test('the time of a question begins when it has a session: a report asks hundreds at once', async () => {
  const story = await tellMarket();
  const snapshot = await Snapshot.open(await openLake(story.lakePath, { create: false }), { memory: '400MB' });
  await snapshot.whole;
  const { signal } = new AbortController();
  const most = 100;
  const hold = () => withVariables(snapshot, {}, signal, () => sleep(3 * most), most);
  const ask = withVariables.bind(undefined, snapshot, {}, signal, async (connection) => {
    return (await connection.runAndReadAll('SELECT 42')).getRows();
  });
  const [, , , rows] = await Promise.all([hold(), hold(), hold(), ask(most)]);
  expect(rows).toEqual([[42]]);
  const endless = 'SELECT sum(a.range * b.range) FROM range(10_000_000) a, range(10_000_000) b';
  await expect(withVariables(snapshot, {}, signal, (connection) => connection.run(endless), most)).rejects.toThrow(
    'this took longer than 0.1 seconds and was stopped',
  );
  await snapshot.close();
  await story.close();
});
