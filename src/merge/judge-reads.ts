import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { FEW_ROWS, selectColumns } from './batch.js';

/** Items whose latest known changes no read shows yet (table stale_items). */
export interface StaleItems {
  count: bigint;
  /** SQL of the table after the run; undefined when it stays as it is. */
  select: string | undefined;
}

/**
 * Variable `feed_skew`: how much later than rows the service dates changes. The document does not say that observedAt is
 * the time in the row. Null, which means two minutes, if nothing shows it. Variable `feed_skew_is_known`: true
 * where reads of this run or of an earlier one establish it. Needs the lake's views.
 * @param lacksChanges true where changes could not be typed: a read may be of one that is missing, so nothing is guessed
 */
export async function measureFeedSkew(db: Database, { lacksChanges = false } = {}): Promise<void> {
  const news = await readSkew(db, ['pending_changes']);
  const all = news.isSure ? news : await readSkew(db, ['pending_changes', 'history']);
  const known = all.isSure ? all.skew : await readKnownSkew(db);
  const skew = known ?? (lacksChanges ? 0n : all.skew);
  await db.run(`SET VARIABLE feed_skew = ${skew === undefined ? 'NULL' : `to_microseconds(${skew})`}`);
  await db.run(`SET VARIABLE feed_skew_is_known = ${known !== undefined}`);
}

/** In microseconds, for the ledger: null where it is not established. */
export async function readFeedSkew(db: Database): Promise<bigint | null> {
  const row = await db.row(
    `SELECT CASE WHEN getvariable('feed_skew_is_known') THEN epoch_us(CAST(getvariable('feed_skew') AS INTERVAL)) END AS us`,
  );
  return (row?.us ?? null) as bigint | null;
}

/** What the last run that could tell has established: with few reads, a run can't tell it from their lag. */
async function readKnownSkew(db: Database): Promise<bigint | undefined> {
  const row = await db.row('SELECT arg_max(feed_skew_us, run_number) AS us FROM runs WHERE feed_skew_us IS NOT NULL');
  return typeof row?.us === 'bigint' ? row.us : undefined;
}

interface Skew {
  /** Microseconds. */
  skew: bigint | undefined;
  /** True where reads agree on it. */
  isSure: boolean;
}

/** Of each read, the time to the change that is nearest; of these the middle. */
async function readSkew(db: Database, changes: string[]): Promise<Skew> {
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
      (SELECT max_by(distance, {'items': items, 'nearness': -abs(distance)}) FROM counted
        WHERE items > 1 AND 2 * items > (SELECT count(DISTINCT item_id) FROM distances)) AS agreed
    FROM nearest`);
  // Several changes of an item lie near its read, and one may have its very time by chance. The distance on which most
  // items agree is the service's own. Where changes come in pairs, items agree on two: by the nearer one, no read counts
  // as showing a change that came behind it.
  if (typeof row?.agreed === 'bigint' && row.agreed > 0n) return { skew: row.agreed + SECOND_US, isSure: true };
  if (row?.is_exact === true) return { skew: 0n, isSure: true };
  // Reads that lag are nearest to changes of earlier runs.
  if (!changes.includes('history') || typeof row?.middle !== 'bigint') return { skew: undefined, isSure: false };
  return { skew: row.middle > 0n ? row.middle + SECOND_US : 0n, isSure: false };
}

/** Rows and changes may be dated to the second. */
const SECOND_US = 1_000_000n;

/**
 * Table `judged_reads`: what the whole read of each needed item lacks, and of each changed item that was read beside;
 * and view `taken_reads`, the reads that become rows. Needs `needed_items` (findNeeds), `reread_items`, `base_items`,
 * `pending_changes`, `rejected_rows`, `rejected_items`, the lake's views and variable `read_at`.
 */
export async function judgeReads(db: Database): Promise<void> {
  await db.run(`CREATE OR REPLACE TABLE judged_reads AS ${readModel('judged_reads')}`);
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
    WHERE reason IS NOT NULL AND reason <> 'not found' AND NOT is_untyped(reason) ORDER BY item_id`);
  return rows.map((row) => row.item_id as bigint);
}

/** What table stale_items becomes. Needs `judged_reads`. An item whose row can't be typed stays until one can. */
export async function selectStaleItems(db: Database): Promise<StaleItems> {
  await db.run(`CREATE OR REPLACE TABLE next_stale_items AS
    SELECT item_id, reason, first_change_id AS change_id, observed_at, first_read_at,
      CAST(getvariable('run_id') AS VARCHAR) AS run_id
    FROM judged_reads WHERE reason IS NOT NULL
    UNION ALL BY NAME
    SELECT * FROM stale_items ANTI JOIN judged_reads USING (item_id) ANTI JOIN exported_items USING (item_id)
    WHERE is_untyped(reason)`);
  const facts = 'SELECT item_id, reason, change_id, first_read_at';
  const row = await db.row(`SELECT count(*) AS n, (SELECT count(*) FROM stale_items) AS before,
    (SELECT count(*) FROM (${facts} FROM next_stale_items INTERSECT ${facts} FROM stale_items)) AS same
    FROM next_stale_items`);
  const count = row?.n as bigint;
  const isSame = count === row?.before && count === row?.same;
  return { count, select: isSame ? undefined : `SELECT ${selectColumns('stale_items')} FROM next_stale_items` };
}
