import { expect, test } from 'vitest';
import { sql } from '../../src/sql/sql.js';
import { at, change, openModels, type Row } from './model-world.js';

const { bind, graph, readTexts } = await openModels();

/** True if a row of history that a comparison found at six gives way to a change. */
async function givesWay({ row, told }: { row?: Row; told?: Row }): Promise<boolean> {
  const history = graph.load('history', 'history', [change({ change_id: null, origin: 'diff', ...row })]);
  const diff_rows = sql`SELECT *, 'a.parquet' AS filename FROM ${history}`;
  const tables = { diff_rows, new_changes: [change({ origin: 'feed', ...told })] };
  return (await readTexts(bind('superseded_diffs', tables, { feed_skew: 120_000_000n }))).length > 0;
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
