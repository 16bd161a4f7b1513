import type { DuckDBValue } from '@duckdb/node-api';
import { setVariables } from '../analyze/analysis.js';
import { createCompliance, type WatchListOptions } from '../analyze/watch-list.js';
import { PricelakeError } from '../io/errors.js';
import type { Database } from '../sql/connection.js';
import { readAnalysis } from '../sql/model.js';
import * as rows from './move-rows.js';
import { parseRows } from './read-rows.js';

/** Begins the time of which the report tells who moved: a run, or a time in UTC. */
export type Since = { run: bigint } | { time: string };

/** What moved since a moment. */
export interface MovesFacts {
  /** Null if nothing moved. */
  since: Date | null;
  /** Number of all movers by kind. */
  counts: ReadonlyMap<rows.MoverKind, bigint>;
  /** The largest of each kind. */
  rows: rows.Mover[];
}

export interface SuccessorFacts {
  pairs: bigint;
  ambiguous: bigint;
  /** The latest first. */
  rows: rows.Successor[];
}

export interface GapFacts {
  shop: string;
  gaps: bigint;
  minShops: bigint;
  /** The most widely sold first. */
  rows: rows.Gap[];
}

export interface BreachFacts {
  breaches: bigint;
  now: bigint;
  shops: bigint;
  /** Those that last first, then the latest. */
  rows: rows.Breach[];
}

const MOVERS_OF_KIND = 40;
export const SUCCESSOR_DAYS = 30;
const SUCCESSORS = 60;
const GAPS = 100;
const BREACHES = 200;
const ALL = 9_000_000_000_000_000n;

/**
 * Reads what moved since a run or a time, by default in the day before the newest data, from the views of the tables and
 * `price_spells`.
 * @throws PricelakeError `usage` if the lake has no such run
 */
export async function readMoves(db: Database, currency: string | null, since: Since | undefined): Promise<MovesFacts> {
  const run = since !== undefined && 'run' in since ? since.run : null;
  if (run !== null && (await db.row('SELECT 1 AS n FROM runs WHERE run_number = $1', [run])) === undefined) {
    throw new PricelakeError('usage', `--since ${run}: the lake has no run of this number`);
  }
  const time = since !== undefined && 'time' in since ? since.time : null;
  await createResult(db, 'report_movers', 'movers', { currency, since: time, since_run: run });
  const counts = await db.rows('SELECT kind, count(*) AS n FROM report_movers GROUP BY kind');
  const reader = await db.read(
    `FROM report_movers QUALIFY row_number() OVER (PARTITION BY kind ORDER BY abs(change_pct) DESC NULLS LAST, moved_at DESC, item_id) <= ${MOVERS_OF_KIND}
     ORDER BY list_position(['fall', 'rise', 'new', 'back', 'removed', 'gone'], kind), abs(change_pct) DESC NULLS LAST, moved_at DESC, item_id`,
  );
  const movers = parseRows(reader, rows.moverRow);
  return {
    since: movers[0]?.since ?? null,
    counts: new Map(counts.map(({ kind, n }) => [rows.moverKind.parse(kind), n as bigint])),
    rows: movers,
  };
}

/** Reads which listings of the last days of the data continue others. */
export async function readSuccessors(db: Database): Promise<SuccessorFacts> {
  const clock = await db.row(
    `SELECT strftime(make_timestamp(seen_us) - INTERVAL ${SUCCESSOR_DAYS} DAY, '%Y-%m-%dT%H:%M:%SZ') AS since FROM (${readAnalysis('data_clock')})`,
  );
  await createResult(db, 'report_successors', 'successors', { since: (clock?.since as string | undefined) ?? null });
  const counts = await db.row(
    'SELECT count(*) AS pairs, count(*) FILTER (is_ambiguous) AS ambiguous FROM report_successors',
  );
  const reader = await db.read(`FROM report_successors LIMIT ${SUCCESSORS}`);
  const { pairs, ambiguous } = counts as Record<'pairs' | 'ambiguous', bigint>;
  return { pairs, ambiguous, rows: parseRows(reader, rows.successorRow) };
}

/**
 * Reads what others sell and the shop does not.
 * @throws PricelakeError `usage` if the lake has no such shop
 */
export async function readGaps(
  db: Database,
  ownSite: bigint,
  currency: string | null,
  minShops: number | undefined,
): Promise<GapFacts> {
  const shop = await db.row(
    'SELECT coalesce(any_value(name), $1::VARCHAR) AS name FROM sites WHERE site_id = $1 HAVING count(*) > 0',
    [ownSite],
  );
  if (shop === undefined) {
    throw new PricelakeError('usage', `--own-site ${ownSite}: no site_id of table sites`);
  }
  const least = minShops === undefined ? 2n : BigInt(minShops);
  await createResult(db, 'report_gaps', 'assortment_gaps', { currency, own_site: ownSite, min_shops: least });
  const count = await db.row('SELECT count(*) AS gaps FROM report_gaps');
  const reader = await db.read(`FROM report_gaps LIMIT ${GAPS}`);
  return {
    shop: String(shop.name),
    gaps: count?.gaps as bigint,
    minShops: least,
    rows: parseRows(reader, rows.gapRow),
  };
}

/** Reads every time that a shop was below a lowest allowed price. @throws PricelakeError as `createCompliance` */
export async function readBreaches(db: Database, options: WatchListOptions): Promise<BreachFacts> {
  await createCompliance(db, options);
  const counts = await db.row(
    'SELECT count(*) AS breaches, count(*) FILTER (is_now) AS now, count(DISTINCT site_id) AS shops FROM compliance',
  );
  const reader = await db.read(
    `FROM compliance ORDER BY is_now DESC, from_at DESC NULLS LAST, line, episode, place LIMIT ${BREACHES}`,
  );
  const { breaches, now, shops } = counts as Record<'breaches' | 'now' | 'shops', bigint>;
  return { breaches, now, shops, rows: parseRows(reader, rows.breachRow) };
}

const VARIABLES = [
  'category',
  'currency',
  'days',
  'min_shops',
  'overlap_days',
  'own_site',
  'product',
  'since',
  'since_run',
  'site_id',
];

/** Keeps all rows of an analysis as a table, because they are counted and read. */
async function createResult(db: Database, table: string, name: string, variables: Record<string, DuckDBValue>) {
  const unset = Object.fromEntries(VARIABLES.map((variable) => [variable, null]));
  await setVariables(db, { ...unset, ...variables, top: ALL });
  await db.run(`CREATE OR REPLACE TABLE ${table} AS ${readAnalysis(name)}`);
}
