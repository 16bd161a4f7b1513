import type { Database } from '../duckdb/connection.js';
import { selectColumns } from './batch.js';
import { readModel } from './model-sql.js';

/** Items of which no read shows yet what was told of them (table stale_items). */
export interface StaleItems {
  count: bigint;
  /** SQL of the table after the run; undefined when it stays as it is. */
  select: string | undefined;
}

/**
 * Variable `feed_skew`: zero where a row that this run read shows the very time of a change of its item. The document
 * does not say that observedAt is the time that rows show, so where none does, a service may date changes later.
 */
export async function measureFeedSkew(db: Database): Promise<void> {
  const read = `SELECT item_id, last_changed_at AS observed_at FROM reread_items UNION ALL SELECT item_id, last_changed_at
    FROM ground_items WHERE run_id = CAST(getvariable('run_id') AS VARCHAR)`;
  const isShown = async (changes: string) => {
    const row = await db.row(
      `SELECT EXISTS (FROM (${read}) SEMI JOIN ${changes} USING (item_id, observed_at)) AS found`,
    );
    return row?.found === true;
  };
  const isExact = (await isShown('pending_changes')) || (await isShown('history'));
  await db.run('SET VARIABLE feed_skew = CAST($1 AS INTERVAL)', [isExact ? '0 seconds' : null]);
}

/**
 * Table `judged_reads`: for each needed item, what its whole read lacks; and view `taken_reads`, the reads that become rows. Needs `needed_items` (findNeeds),
 * `reread_items`, `ground_items`, `pending_changes`, the lake's views and variable `read_at`.
 */
export async function judgeReads(db: Database): Promise<void> {
  await db.run(`CREATE OR REPLACE TEMP TABLE judged_reads AS ${readModel('judged_reads')}`);
  await db.run(`CREATE OR REPLACE TEMP VIEW taken_reads AS
    SELECT r.* REPLACE (j.change_id AS change_id), j.reason IS NULL AS is_current
    FROM reread_items AS r JOIN judged_reads AS j USING (item_id) WHERE NOT j.is_rejected`);
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
