import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { loadTableSchema } from '../tables/schemas.js';
import { LAG_MS } from '../tables/table.js';
import type { MergeBase } from './merge-base.js';

/** What whole rows showed that the lake did not. */
export interface Comparison {
  /** Items that have other values, and that no landed change shows. */
  differences: bigint;
  /** JSON text: by the name of a value, in how many of them it differs. */
  columns: string;
  /** Items that the lake lacked, and that no landed change shows. */
  missed: bigint;
  /** Items that a complete copy lacks. */
  gone: bigint;
  /** Items that it lacks and that may be in a dataset which can no longer be read: these stay as they are. */
  unreadable: bigint;
}

export interface ComparisonFacts {
  withFeed: boolean;
  /** Names of the datasets that the key can read; undefined where none that the lake is of is missing. */
  datasets: readonly string[] | undefined;
  /** Names of datasets that are new to the lake: their items are no news. */
  added: readonly string[];
  /** False when a row could not be typed: the item that it shows is not missing. */
  isReadWhole: boolean;
  /** Items that a poll has found to be no longer visible. */
  unlisted?: readonly bigint[];
}

export const NO_COMPARISON: Comparison = { differences: 0n, columns: '{}', missed: 0n, gone: 0n, unreadable: 0n };

/**
 * Compares whole rows with the lake: tables `different_items`, `diff_changes` (rows of history for differences without a change)
 * and for a complete copy `missing_items`, the lake's rows that it lacks, marked. Those of a dataset that can't be read
 * any more are left as they are: `datasets` names the readable ones.
 */
export async function compareItems(
  db: Database,
  base: MergeBase,
  { withFeed, datasets, added, isReadWhole, unlisted = [] }: ComparisonFacts,
): Promise<Comparison> {
  const isWhole = base.kind === 'reload' && isReadWhole;
  const isCompared = base.kind === 'poll' || base.kind === 'reload';
  await defineNoDifferences(db, isCompared);
  if (!isCompared && unlisted.length === 0) return NO_COMPARISON;
  if (isCompared) {
    await db.define('table', 'different_items', readModel('compare'));
    await db.run('SET VARIABLE with_feed = $1', [withFeed]);
    await db.run(`SET VARIABLE added_datasets = from_json($1, '["VARCHAR"]')`, [JSON.stringify(added)]);
    await db.define('table', 'mismatched_items', readModel('mismatches'));
    const mismatched = await db.row('SELECT count(*) AS n FROM mismatched_items');
    if (mismatched?.n === 0n) await db.defineEmpty('diff_changes', loadTableSchema('history').columns);
    else await db.define('table', 'diff_changes', readModel('diff'));
  }
  await db.run(`SET VARIABLE readable_datasets = from_json($1, '["VARCHAR"]')`, [JSON.stringify(datasets ?? null)]);
  if (isWhole || unlisted.length > 0) {
    const some = isWhole ? '' : ` WHERE item_id IN (${unlisted.join(', ')})`;
    await db.define('table', 'missing_items', `SELECT * FROM (${readModel('missing')})${some}`);
  }
  // A copy that lags lacks what came last: such items are read one by one before they are marked gone.
  if (isWhole)
    await db.define(
      'table',
      'doubted_items',
      `SELECT item_id, first_seen_at AS observed_at FROM missing_items
      WHERE first_seen_at > (SELECT max(last_changed_at) FROM exported_items) - INTERVAL ${LAG_MS} MILLISECOND`,
    );
  const counts = await db.row(`SELECT (SELECT count(*) FROM mismatched_items WHERE NOT is_new) AS differences,
    (SELECT count(*) FROM mismatched_items WHERE is_new) AS missed,
    (SELECT coalesce(CAST(json_group_object(name, n) AS VARCHAR), '{}') FROM (
      SELECT name, count(*) AS n FROM (SELECT unnest(differences) AS name FROM mismatched_items WHERE NOT is_new)
      GROUP BY name ORDER BY name)
    ) AS columns,
    (SELECT count(*) FROM missing_items) AS gone,
    ${isWhole ? '(SELECT count(*) FROM (FROM items WHERE gone_at IS NULL) ANTI JOIN exported_items USING (item_id))' : '0::BIGINT'} AS lacking`);
  return {
    differences: counts?.differences as bigint,
    missed: counts?.missed as bigint,
    columns: String(counts?.columns),
    gone: counts?.gone as bigint,
    unreadable: isWhole ? (counts?.lacking as bigint) - (counts?.gone as bigint) : 0n,
  };
}

const DIFFERENCE_COLUMNS = [
  { name: 'item_id', type: 'BIGINT' },
  { name: 'is_new', type: 'BOOLEAN' },
  { name: 'differences', type: 'VARCHAR[]' },
];

/** What a comparison leaves of what it does not do. */
async function defineNoDifferences(db: Database, isCompared: boolean): Promise<void> {
  if (!isCompared) {
    await db.defineEmpty('different_items', DIFFERENCE_COLUMNS);
    await db.defineEmpty('mismatched_items', DIFFERENCE_COLUMNS);
    await db.defineEmpty('diff_changes', loadTableSchema('history').columns);
  }
  await db.defineEmpty('missing_items', loadTableSchema('items').columns);
  await db.defineEmpty('doubted_items', [
    { name: 'item_id', type: 'BIGINT' },
    { name: 'observed_at', type: 'TIMESTAMP WITH TIME ZONE' },
  ]);
}
