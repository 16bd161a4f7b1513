import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test, vi } from 'vitest';
import { LakeVersion } from '../../src/explore/lake-version.js';
import { withVariables } from '../../src/explore/question.js';
import { Snapshot } from '../../src/explore/snapshot.js';
import { openLake } from '../../src/lake/lake.js';
import { copyMarket } from './explored.js';

test('the time limit of a question starts when it gets a session, because a report asks hundreds at once', async () => {
  const story = await copyMarket();
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
    'the query took longer than 0.1 seconds and was stopped',
  );
  await snapshot.close();
  await story.close();
});

test('rows are prepared on one thread, and questions then use all threads', async () => {
  const story = await copyMarket();
  const { create } = DuckDBInstance;
  const spied = vi.spyOn(DuckDBInstance, 'create').mockImplementation((place, options) => {
    return create.call(DuckDBInstance, place, { ...options, threads: '3' });
  });
  const version = await LakeVersion.open(await openLake(story.lakePath, { create: false }), { memory: '400MB' });
  spied.mockRestore();
  version.hold();
  const db = version.statements();
  const readThreads = async () => (await db.row("SELECT current_setting('threads') AS threads"))?.threads;
  await expect.poll(readThreads, { interval: 1 }).toBe(1n);
  await version.prepared.all;
  await expect.poll(readThreads, { interval: 1 }).toBe(3n);
  await expect(db.run("SET memory_limit = '9GB'")).rejects.toThrow('the configuration has been locked');
  await version.release();
  await story.close();
});
