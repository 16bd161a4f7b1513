import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { LAG_MS } from '../tables/table.js';
import type { TypedFile } from '../typing/type-file.js';
import { countRepeated, goodRows, selectColumns, type Tally } from './batch.js';

const EMPTY_CHANGES =
  "SELECT *, '' AS part, CAST(NULL AS VARCHAR) AS site_name, CAST(NULL AS VARCHAR) AS site_host, CAST(NULL AS VARCHAR) AS site_attribution FROM history";

export interface ChangeBounds {
  /** Changes of the feed behind this id are new to history, except those that webhooks brought ahead of it. */
  feedFrom: bigint;
  /** History may hold changes up to this id already: the newest that webhooks brought ahead of the feed, or 0. */
  knownUpTo: bigint;
  /** Where the feed of this run ends; undefined without one. */
  cursor: bigint | undefined;
  /** True where changes behind `cursor` come again: the feeds of several datasets have not all come to them. */
  isCut?: boolean;
  /** True where the lake is of some datasets: what webhooks bring of items that it does not hold may be of others. */
  isSelected?: boolean;
}

/**
 * View `new_changes`: the landed changes that history lacks, each once; where the feed and webhooks brought the same,
 * the feed's. Leaves view `feed_changes`, all that the feed brought behind its cursor, and tables `webhook_changes` and
 * `backfill_changes`, what only webhooks and items' histories brought. Needs the views of the published tables.
 */
export async function createNewChanges(
  db: Database,
  files: TypedFile[],
  { feedFrom, knownUpTo, cursor, isCut = false, isSelected = false }: ChangeBounds,
): Promise<Tally> {
  const good = goodRows(files, EMPTY_CHANGES);
  const own = "origin <> 'webhook' OR item_id IN (SELECT item_id FROM items WHERE gone_at IS NULL)";
  await db.run(`CREATE OR REPLACE TEMP VIEW typed_changes AS
    ${isSelected ? `SELECT * FROM (${good}) WHERE ${own}` : good}`);
  const { typed, repeated } = await countRepeated(db, "(FROM typed_changes WHERE origin = 'feed')", 'change_id');
  const once = repeated === 0n ? '' : 'QUALIFY row_number() OVER (PARTITION BY change_id ORDER BY observed_at) = 1';
  await db.run(`CREATE OR REPLACE TEMP VIEW feed_changes AS SELECT * FROM typed_changes
    WHERE origin = 'feed' AND change_id > CAST('${feedFrom}' AS BIGINT)
      ${isCut && cursor !== undefined ? `AND change_id <= CAST('${cursor}' AS BIGINT)` : ''} ${once}`);
  const hasWebhooks = files.some((file) => file.origin === 'webhook');
  const mayOverlap = hasWebhooks || knownUpTo > feedFrom;
  const none = mayOverlap ? '' : ' WHERE false';
  await db.run('SET VARIABLE webhook_ahead = $1::BIGINT', [knownUpTo]);
  await db.run(`CREATE OR REPLACE TEMP TABLE known_changes AS SELECT * FROM (${readModel('known_changes')})${none}`);
  await db.run(
    `CREATE OR REPLACE TEMP TABLE webhook_changes AS SELECT * FROM (${readModel('webhook_changes')})${none}`,
  );
  const noBackfill = files.some((file) => file.origin === 'history') ? '' : ' WHERE false';
  await db.run('SET VARIABLE with_feed = $1', [cursor !== undefined]);
  await db.run('SET VARIABLE feed_cursor = $1::BIGINT', [cursor ?? 0n]);
  await db.run(
    `CREATE OR REPLACE TEMP TABLE backfill_changes AS SELECT * FROM (${readModel('backfill_changes')})${noBackfill}`,
  );
  const columns = selectColumns('history');
  await db.run(`CREATE OR REPLACE TEMP VIEW new_changes AS
    SELECT ${columns} FROM feed_changes ${mayOverlap ? 'ANTI JOIN known_changes USING (change_id)' : ''}
    UNION ALL SELECT ${columns} FROM webhook_changes UNION ALL SELECT ${columns} FROM backfill_changes`);
  const counts = await db.row(`SELECT (SELECT count(*) FROM new_changes) AS fresh,
    (SELECT count(*) FROM (${good}) WHERE origin <> 'feed') AS others`);
  const all = typed + (counts?.others as bigint);
  return { typed: all, repeated: all - (counts?.fresh as bigint) };
}

export interface PendingBounds {
  /** Changes behind this id are not yet in items. */
  applyFrom: bigint;
  /** Where the feed ends; undefined without one. What webhooks told is applied when the feed has come past it. */
  cursor: bigint | undefined;
  /** History may hold changes that are not yet in items. */
  withHistory: boolean;
  /** Changes up to it happened before whole rows were read; undefined where the run reads none. */
  watermark: bigint | undefined;
  /** True where items hold all changes up to `applyFrom`; false where no feed was applied to them before. */
  isApplied: boolean;
}

/**
 * Table `pending_changes`: changes that are not yet in items, landed now or standing in history. Whole rows may lag
 * behind the feed: the changes shortly before they were read belong to them as well, of items that are new to the lake.
 */
export async function createPendingChanges(
  db: Database,
  { applyFrom, cursor, withHistory, watermark, isApplied }: PendingBounds,
): Promise<void> {
  await db.run('SET VARIABLE watermark = $1::BIGINT', [watermark ?? null]);
  const select = (from: string) =>
    `SELECT ${selectColumns('history')} FROM ${from} WHERE change_id > CAST('${applyFrom}' AS BIGINT)`;
  const isPassed = cursor === undefined ? "origin <> 'webhook'" : `change_id <= CAST('${cursor}' AS BIGINT)`;
  const published = withHistory ? `UNION ALL ${select('history')} AND item_id IS NOT NULL AND ${isPassed}` : '';
  const recent = `SELECT ${selectColumns('history')} FROM feed_changes ${isApplied ? 'ANTI JOIN items USING (item_id)' : ''}
    ANTI JOIN stale_items USING (item_id)
    WHERE change_id <= getvariable('watermark') AND item_id IS NOT NULL AND observed_at >= (
      SELECT max(observed_at) FROM feed_changes WHERE change_id <= getvariable('watermark')
    ) - INTERVAL ${LAG_MS} MILLISECOND`;
  await db.run(`CREATE OR REPLACE TEMP TABLE pending_changes AS
    SELECT * FROM (${select('feed_changes')} UNION ALL ${select('webhook_changes')} AND ${isPassed} ${published}
      ${watermark === undefined ? '' : `UNION ALL ${recent}`})
    QUALIFY row_number() OVER (PARTITION BY change_id ORDER BY origin = 'webhook', run_id) = 1`);
}

/**
 * Newest change of history that webhooks brought ahead of the feed, which ends at `cursor`, or items' histories where
 * there is no feed; 0 when there is none.
 */
export async function findWebhookAhead(db: Database, before: bigint, cursor = 0n): Promise<bigint> {
  const row = await db.row(
    `SELECT max(change_id) AS newest
     FROM (SELECT change_id FROM webhook_changes UNION ALL SELECT change_id FROM backfill_changes)
     WHERE change_id > $1`,
    [cursor],
  );
  const newest = (row?.newest as bigint | null) ?? 0n;
  return newest > before ? newest : before;
}
