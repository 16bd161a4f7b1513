import { expect, test } from 'vitest';
import { sql } from '../../src/sql/sql.js';
import { at, change, openModels, type Row } from './model-world.js';

const { bind, graph, readTexts } = await openModels();

/** True if a history row that a comparison created for 06:00 is replaced by a change. */
async function givesWay({ row, told }: { row?: Row; told?: Row }): Promise<boolean> {
  const history = graph.load('history', 'history', [change({ change_id: null, origin: 'diff', ...row })]);
  const diff_rows = sql`SELECT *, 'a.parquet' AS filename FROM ${history}`;
  const tables = { diff_rows, new_changes: [change({ origin: 'feed', ...told })] };
  return (await readTexts(bind('superseded_diffs', tables, { feed_skew: 120_000_000n }))).length > 0;
}

test.each<[string, { row?: Row; told?: Row }, boolean]>([
  ['is replaced by a change at the same time', {}, true],
  ['is replaced by an earlier change', { told: { observed_at: at(5) } }, true],
  [
    "is replaced by a change that is later by at most the feed's delay",
    { told: { observed_at: '2026-11-20T06:02:00Z' } },
    true,
  ],
  ['is kept if the change is later', { told: { observed_at: '2026-11-20T06:02:01Z' } }, false],
  ['is kept if the change is of another item', { told: { item_id: 2 } }, false],
  ['is kept if the change is of another kind', { told: { kind: 'REMOVED' } }, false],
  ['is kept if the change has no id', { told: { change_id: null } }, false],
  ["is kept if it comes from an item's own history", { row: { origin: 'history' } }, false],
])('a history row from a comparison %s', async (_name, world, expected) => {
  expect(await givesWay(world)).toBe(expected);
});
