import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { FEW_ROWS, selectColumns } from './batch.js';

/** Items of which no read shows yet what was told of them (table stale_items). */
export interface StaleItems {
  count: bigint;
  /** SQL of the table after the run; undefined when it stays as it is. */
  select: string | undefined;
}

/**
 * Variable `feed_skew`: how much later than rows the service dates changes, as the reads of this run show. The document
 * does not say that observedAt is the time in the row. Null, which stands for two minutes, where nothing shows it.
 */
export async function measureFeedSkew(db: Database): Promise<void> {
  const skew = (await readSkew(db, ['pending_changes'])) ?? (await readSkew(db, ['pending_changes', 'history']));
  await db.run(`SET VARIABLE feed_skew = ${skew === undefined ? 'NULL' : `to_microseconds(${skew})`}`);
}

/** Of each read, the time to the change that is nearest; of these the middle. Undefined unless `changes` tell it surely. */
async function readSkew(db: Database, changes: string[]): Promise<bigint | undefined> {
  const told = changes.map((table) => `SELECT item_id, observed_at FROM ${table}`).join(' UNION ALL ');
  const row = await db.row(`WITH reads AS (
      SELECT item_id, last_changed_at FROM reread_items
      UNION ALL SELECT item_id, last_changed_at FROM exported_items SEMI JOIN pending_changes USING (item_id)
      UNION ALL (SELECT item_id, last_changed_at FROM exported_items LIMIT 1000)
    ),
    distances AS (
      SELECT r.item_id, r.last_changed_at, epoch_us(c.observed_at) - epoch_us(r.last_changed_at) AS distance
      FROM reads AS r JOIN (${told}) AS c USING (item_id)
      WHERE c.observed_at BETWEEN r.last_changed_at - INTERVAL 2 MINUTE AND r.last_changed_at + INTERVAL 2 MINUTE
    ),
    nearest AS (SELECT arg_min(distance, abs(distance)) AS distance FROM distances GROUP BY item_id, last_changed_at),
    counted AS (SELECT distance, count(DISTINCT item_id) AS items FROM distances GROUP BY distance)
    SELECT quantile_disc(distance, 0.5) AS middle, bool_or(distance = 0) AS is_exact,
      (SELECT max_by(distance, items) FROM counted
        WHERE items > 1 AND 2 * items > (SELECT count(DISTINCT item_id) FROM distances)) AS agreed
    FROM nearest`);
  if (row?.is_exact === true) return 0n;
  // Several changes of an item lie near its read. The distance on which most items agree is the service's own.
  if (typeof row?.agreed === 'bigint' && row.agreed > 0n) return row.agreed + SECOND_US;
  // Reads that lag are nearest to changes of earlier runs.
  if (!changes.includes('history') || typeof row?.middle !== 'bigint') return undefined;
  return row.middle > 0n ? row.middle + SECOND_US : 0n;
}

/** Rows and changes may be dated to the second. */
const SECOND_US = 1_000_000n;

/**
 * Table `judged_reads`: for each needed item, what its whole read lacks; and view `taken_reads`, the reads that become rows. Needs `needed_items` (findNeeds),
 * `reread_items`, `base_items`, `pending_changes`, the lake's views and variable `read_at`.
 */
export async function judgeReads(db: Database): Promise<void> {
  await db.run(`CREATE OR REPLACE TEMP TABLE judged_reads AS ${readModel('judged_reads')}`);
  const judged = await db.row('SELECT count(*) AS n FROM judged_reads');
  await db.define(
    (judged?.n as bigint) > FEW_ROWS ? 'view' : 'table',
    'taken_reads',
    `SELECT r.* REPLACE (j.change_id AS change_id), j.reason IS NULL AS is_current
    FROM reread_items AS r JOIN judged_reads AS j USING (item_id) WHERE NOT j.is_rejected`,
  );
}

/** Needed items that a read was found of, which shows too little. Needs `judged_reads`. */
export async function listStaleReads(db: Database): Promise<bigint[]> {
  const rows = await db.rows(`SELECT item_id FROM judged_reads
    WHERE reason IS NOT NULL AND reason <> 'not found' ORDER BY item_id`);
  return rows.map((row) => row.item_id as bigint);
}

/** What table stale_items becomes. Needs `judged_reads`. */
export async function selectStaleItems(db: Database): Promise<StaleItems> {
  await db.run(`CREATE OR REPLACE TEMP TABLE next_stale_items AS
    SELECT item_id, reason, first_change_id AS change_id, observed_at, first_read_at,
      CAST(getvariable('run_id') AS VARCHAR) AS run_id
    FROM judged_reads WHERE reason IS NOT NULL`);
  const facts = 'SELECT item_id, reason, change_id, first_read_at';
  const row = await db.row(`SELECT count(*) AS n, (SELECT count(*) FROM stale_items) AS before,
    (SELECT count(*) FROM (${facts} FROM next_stale_items INTERSECT ${facts} FROM stale_items)) AS same
    FROM next_stale_items`);
  const count = row?.n as bigint;
  const isSame = count === row?.before && count === row?.same;
  return { count, select: isSame ? undefined : `SELECT ${selectColumns('stale_items')} FROM next_stale_items` };
}
