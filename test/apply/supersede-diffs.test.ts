import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/sql/connection.js';
import { loadRows } from '../load-rows.js';
import { at, change, openModels, type Row, readModelRows } from './model-world.js';

let db: Database;
beforeAll(async () => {
  db = await openModels();
  await db.run('SET VARIABLE feed_skew = INTERVAL 2 MINUTE');
});
afterAll(() => db.close());

/** Whether a row of history that a comparison found at six gives way to a change. */
async function givesWay({ row, told }: { row?: Row; told?: Row }): Promise<boolean> {
  await loadRows(db, 'history', 'history', [change({ change_id: null, origin: 'diff', ...row })]);
  await db.run(`CREATE OR REPLACE VIEW diff_rows AS SELECT *, 'a.parquet' AS filename FROM history`);
  await loadRows(db, 'new_changes', 'history', [change({ origin: 'feed', ...told })]);
  return (await readModelRows(db, 'superseded_diffs', 'item_id')).length > 0;
}

test.each<[string, { row?: Row; told?: Row }, boolean]>([
  ['gives way to a change of its time', {}, true],
  ['gives way to a change before it', { told: { observed_at: at(5) } }, true],
  ['gives way as far as the feed dates changes later', { told: { observed_at: '2026-11-20T06:02:00Z' } }, true],
  ['stays beside a change of later', { told: { observed_at: '2026-11-20T06:02:01Z' } }, false],
  ['stays beside a change of another item', { told: { item_id: 2 } }, false],
  ['stays beside a change of another kind', { told: { kind: 'REMOVED' } }, false],
  ['stays beside what has no change id either', { told: { change_id: null } }, false],
  ["stays if an item's own history told it", { row: { origin: 'history' } }, false],
])('a row that a comparison wrote %s', async (_name, world, expected) => {
  expect(await givesWay(world)).toBe(expected);
});
