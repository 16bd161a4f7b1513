import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { type CursorWindow, findHeld } from '../tables/cursor-window.js';
import { loadTableSchema } from '../tables/schemas.js';
import { LAG_MS } from '../tables/table.js';
import type { TypedFile } from '../typing/type-file.js';
import { chooseKind, countRepeated, goodRows, leaveOutRepeated, selectColumns, type Tally } from './batch.js';

/** What typed changes have beside the columns of history. */
const TYPED_COLUMNS = ['part', 'site_name', 'site_host', 'site_attribution'].map((name) => ({ name, type: 'VARCHAR' }));

/**
 * Makes `new_changes`: the landed changes that history lacks, each once; where the feed and webhooks brought the same,
 * the feed's. Of several datasets some feeds come past the common cursor: what they brought ahead of it is new to
 * history as well. Leaves `typed_changes`, all of them, `feed_changes`, what the feed brought, and `webhook_changes` and
 * `backfill_changes`, what only webhooks and items' histories brought. Needs the views of the published tables.
 * @param isSelected true where the lake is of some datasets: what webhooks bring of items that it lacks may be of others
 */
export async function createNewChanges(
  db: Database,
  files: TypedFile[],
  window: CursorWindow,
  { isSelected }: { isSelected: boolean },
): Promise<Tally> {
  const { columns } = loadTableSchema('history');
  const { from, to } = window;
  await db.run('SET VARIABLE with_feed = $1', [to !== undefined]);
  await db.run('SET VARIABLE feed_cursor = $1::BIGINT', [to ?? null]);
  if (files.length === 0) {
    for (const name of ['typed_changes', 'feed_changes']) await db.defineEmpty(name, [...columns, ...TYPED_COLUMNS]);
    for (const name of ['webhook_changes', 'backfill_changes', 'new_changes']) await db.defineEmpty(name, columns);
    return { typed: 0n, repeated: 0n };
  }
  const kind = chooseKind(files);
  const good = goodRows(files);
  const own = "origin <> 'webhook' OR item_id IN (SELECT item_id FROM items WHERE gone_at IS NULL)";
  await db.define(kind, 'typed_changes', isSelected ? `SELECT * FROM (${good}) WHERE ${own}` : good);
  const feed = "(FROM typed_changes WHERE origin = 'feed')";
  const { typed, repeated } = await countRepeated(db, feed, 'change_id');
  const first = { name: 'feed_changes', rows: feed, key: 'change_id', order: 'item_id IS NULL, observed_at' };
  const once = repeated === 0n ? feed : await leaveOutRepeated(db, first);
  const has = (origin: TypedFile['origin']) => files.some((file) => file.origin === origin);
  const named = has('webhook') ? nameItems(once) : once;
  await db.define(kind, 'feed_changes', `SELECT * FROM ${named} WHERE change_id > CAST('${from}' AS BIGINT)`);
  const held = findHeld(window);
  const mayOverlap = has('webhook') || held > from;
  if (mayOverlap) {
    await db.run('SET VARIABLE held_up_to = $1::BIGINT', [held]);
    await db.define('table', 'known_changes', readModel('known_changes'));
  }
  if (has('webhook')) await db.define('table', 'webhook_changes', readModel('webhook_changes'));
  else await db.defineEmpty('webhook_changes', columns);
  if (has('history')) await db.define('table', 'backfill_changes', readModel('backfill_changes'));
  else await db.defineEmpty('backfill_changes', columns);
  const select = `SELECT ${selectColumns('history')} FROM`;
  await db.define(
    kind,
    'new_changes',
    `${select} feed_changes ${mayOverlap ? 'ANTI JOIN known_changes USING (change_id)' : ''}
    UNION ALL ${select} webhook_changes UNION ALL ${select} backfill_changes`,
  );
  const hasOthers = has('webhook') || has('history');
  const counts = await db.row(`SELECT (SELECT count(*) FROM new_changes) AS fresh,
    ${hasOthers ? `(SELECT count(*) FROM (${good}) WHERE origin <> 'feed')` : 'CAST(0 AS BIGINT)'} AS others`);
  const all = typed + (counts?.others as bigint);
  return { typed: all, repeated: all - (counts?.fresh as bigint) };
}

/** SQL of changes of the feed: where their item is null by now, a webhook may have named it while the caller still saw it. */
function nameItems(changes: string): string {
  const values = ['item_id', 'title', 'url', 'currency', 'site_id', 'site_name', 'site_host', 'site_attribution'];
  return `(SELECT f.* REPLACE (${values.map((name) => `coalesce(f.${name}, w.${name}) AS ${name}`).join(', ')})
    FROM (FROM ${changes}) AS f
    LEFT JOIN (
      SELECT DISTINCT ON (change_id) change_id, ${values.join(', ')} FROM typed_changes
      WHERE origin = 'webhook' AND item_id IS NOT NULL ORDER BY change_id
    ) AS w ON f.item_id IS NULL AND w.change_id = f.change_id)`;
}

/**
 * Table `pending_changes`: changes that are not yet in items, landed now or standing in history. Whole rows may lag
 * behind the feed: the changes shortly before they were read belong to them as well, of items that are new to the lake.
 */
export async function createPendingChanges(db: Database, window: CursorWindow): Promise<void> {
  const { applyFrom, to, watermark, isApplied } = window;
  await db.run('SET VARIABLE watermark = $1::BIGINT', [watermark ?? null]);
  const isPassed = to === undefined ? "origin <> 'webhook'" : `change_id <= CAST('${to}' AS BIGINT)`;
  const select = (from: string) => `SELECT ${selectColumns('history')} FROM ${from}
    WHERE change_id > CAST('${applyFrom}' AS BIGINT) AND ${isPassed}`;
  const published = findHeld(window) > applyFrom ? `UNION ALL ${select('history')} AND item_id IS NOT NULL` : '';
  const recent = `SELECT ${selectColumns('history')} FROM feed_changes ${isApplied ? 'ANTI JOIN items USING (item_id)' : ''}
    ANTI JOIN stale_items USING (item_id)
    WHERE change_id <= getvariable('watermark') AND ${isPassed} AND item_id IS NOT NULL AND observed_at >= (
      SELECT max(observed_at) FROM feed_changes WHERE change_id <= getvariable('watermark')
    ) - INTERVAL ${LAG_MS} MILLISECOND`;
  await db.run(`CREATE OR REPLACE TABLE pending_changes AS
    SELECT * FROM (${select('feed_changes')} UNION ALL ${select('webhook_changes')} ${published}
      ${watermark === undefined ? '' : `UNION ALL ${recent}`})
    QUALIFY row_number() OVER (PARTITION BY change_id ORDER BY item_id IS NULL, origin = 'webhook', run_id) = 1`);
}

/**
 * Newest change that is in history ahead of `to` after the run: webhooks brought it, or the feed of one of several datasets,
 * or items' histories where there is no feed; 0 when there is none.
 */
export async function findAhead(db: Database, { ahead, to = 0n }: Pick<CursorWindow, 'ahead' | 'to'>): Promise<bigint> {
  const row = await db.row(
    `SELECT max(change_id) AS newest
     FROM (SELECT change_id FROM feed_changes UNION ALL SELECT change_id FROM webhook_changes
       UNION ALL SELECT change_id FROM backfill_changes)
     WHERE change_id > $1`,
    [to],
  );
  const newest = (row?.newest as bigint | null) ?? 0n;
  return newest > ahead ? newest : ahead;
}
