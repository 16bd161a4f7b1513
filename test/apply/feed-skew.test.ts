import { afterAll, beforeAll, expect, it } from 'vitest';
import { measureFeedSkew } from '../../src/apply/feed-skew.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { named } from './model-world.js';

let db: Database;

beforeAll(async () => {
  db = await Database.open();
  await db.run('CREATE TABLE runs (run_number BIGINT, feed_skew_us BIGINT)');
});
afterAll(() => db.close());

/** The skew of five items that each have a change so many seconds behind the time of their read; µs. */
async function measure(seconds: readonly number[]): Promise<unknown> {
  await db.run(`CREATE OR REPLACE TABLE reread_items AS
    SELECT i AS item_id, TIMESTAMPTZ '2026-11-01' + to_seconds(i * 900) AS last_changed_at FROM range(5) t(i)`);
  await db.run('CREATE OR REPLACE TABLE exported_items AS FROM reread_items LIMIT 0');
  await db.run(`CREATE OR REPLACE TABLE pending_changes AS
    SELECT i AS item_id, TIMESTAMPTZ '2026-11-01' + to_seconds(i * 900 + s) AS observed_at
    FROM range(5) t(i), (SELECT unnest([${seconds.join(', ')}]) AS s)`);
  await db.run('CREATE OR REPLACE TABLE history AS FROM pending_changes LIMIT 0');
  const reads = (name: string) => ({ rows: named(name), typed: named(name), tally: { typed: 0n, repeated: 0n } });
  const evidence = { pending: named('pending_changes'), history: named('history'), runs: named('runs') };
  const [exported, reread] = [reads('exported_items'), reads('reread_items')];
  return (await measureFeedSkew(new RelationGraph(db), { ...evidence, exported, reread })).us;
}

it('the distance on which most items agree is how much later the feed dates changes, and a second', async () => {
  expect(await measure([7])).toBe(8_000_000n);
  expect(await measure([0])).toBe(0n);
});

it('of two distances on which all agree the nearest one holds, in whatever order the changes are', async () => {
  expect(await measure([0, 3])).toBe(0n);
  expect(await measure([3, 0])).toBe(0n);
  expect(await measure([5, 2])).toBe(3_000_000n);
  expect(await measure([2, 5])).toBe(3_000_000n);
});
