import { setVariables } from '../analyze/analysis.js';
import { createWatched, type WatchOptions } from '../analyze/watch-list.js';
import type { Database } from '../sql/connection.js';
import { readAnalysis } from '../sql/model.js';
import { type ProductHistory, readHistories } from './read-histories.js';
import {
  type BreachFacts,
  type GapFacts,
  type MovesFacts,
  readMoves,
  readSuccessors,
  type Since,
  type SuccessorFacts,
} from './read-moves.js';
import { parseRows, readRows } from './read-rows.js';
import * as rows from './rows.js';

export interface ReportSelection {
  /** ISO 4217 code; all currencies without it. */
  currency: string | undefined;
  /** Fewest shops of the products with the widest spreads; by default four, or as many as there are. */
  minShops: number | undefined;
  /** Rows of the table of the widest spreads. */
  top: number;
  /** Products to show; if empty, some of the widest spreads. */
  products: readonly string[];
  /** Begins the time of which the report tells what moved; by default a day before the newest data. */
  since?: Since | undefined;
}

/** Everything that the report shows: aggregates and top rows, never whole tables. */
export interface ReportFacts {
  selection: ReportSelection;
  overview: rows.Overview;
  runs: rows.Run[];
  checks: rows.CheckRow[];
  datasets: rows.Dataset[];
  changes: rows.DayChanges[];
  summary: rows.SpreadSummary;
  histogram: rows.HistogramStep[];
  days: rows.DaySpread[];
  categories: rows.Category[];
  spreads: rows.Spread[];
  shops: rows.Shop[];
  histories: ProductHistory[];
  credits: rows.Credit[];
  /** Undefined without a price list. */
  watched?: WatchedFacts | undefined;
  moves: MovesFacts;
  successors: SuccessorFacts;
  /** Undefined without a lowest allowed price. */
  breaches?: BreachFacts | undefined;
  /** Undefined if the user's own shop is not known. */
  gaps?: GapFacts | undefined;
}

export const CHANGE_DAYS = 60;
const SPREAD_DAYS = 90n;
const RUNS = 10n;
const DATASETS = 50n;
const CATEGORIES = 30n;
export const MOST_SHOPS = 100;

/**
 * Reads the facts from the views of the tables and `price_spells`.
 * @throws PricelakeError `usage` when a product or run of the selection is not in the lake.
 */
export async function readFacts(db: Database, selection: ReportSelection): Promise<ReportFacts> {
  const currency = selection.currency ?? null;
  const { minShops } = selection;
  const [overview] = await readRows(db, 'report_overview', rows.overviewRow);
  const [summary] = await readRows(db, 'spread_summary', rows.summaryRow, {
    currency,
    min_shops: minShops === undefined ? null : BigInt(minShops),
  });
  if (overview === undefined || summary === undefined)
    throw new TypeError('an analysis that always has a row gave none');
  const widest = { currency, min_shops: summary.min_shops, top: BigInt(selection.top) };
  const spreads = await readRows(db, 'widest_spreads', rows.spreadRow, widest);
  return {
    selection,
    overview,
    runs: await readRows(db, 'report_runs', rows.runRow, { top: RUNS }),
    checks: await readRows(db, 'report_checks', rows.checkRow),
    datasets: await readRows(db, 'report_datasets', rows.datasetRow, { top: DATASETS }),
    changes: await readRows(db, 'changes_by_day', rows.changesRow, { days: BigInt(CHANGE_DAYS) }),
    summary,
    histogram: await readRows(db, 'spread_histogram', rows.histogramRow, { currency }),
    days: await readRows(db, 'spread_by_day', rows.dayRow, { currency, days: SPREAD_DAYS }),
    categories: await readRows(db, 'spread_by_category', rows.categoryRow, { currency, top: CATEGORIES }),
    spreads,
    shops: await readShops(db, currency),
    histories: await readHistories(db, selection, spreads, overview.newest_change),
    credits: await readRows(db, 'report_credits', rows.creditRow),
    moves: await readMoves(db, currency, selection.since),
    successors: await readSuccessors(db),
  };
}

/** Reads shops over all categories, those with the most compared products first. */
async function readShops(db: Database, currency: string | null): Promise<rows.Shop[]> {
  await setVariables(db, { currency, category: null, min_products: 1n });
  const reader = await db.read(
    `FROM (${readAnalysis('shop_index_by_category')}) WHERE category_slug IS NULL ORDER BY products DESC, site_id LIMIT $1`,
    [BigInt(MOST_SHOPS)],
  );
  return parseRows(reader, rows.shopRow);
}

/** The result of `pricelake watch` for a price list. */
export interface WatchedFacts {
  lines: bigint;
  matched: bigint;
  /** Lines with a lowest allowed price. */
  limited: bigint;
  /** Products that a shop sells below the lowest allowed price. */
  below: bigint;
  /** Products that a shop sells cheaper than the list does. */
  undercut: bigint;
  /** The most important first. */
  rows: rows.Watched[];
}

/** The files of `pricelake watch` have the whole list. */
export const MOST_WATCHED = 500;

/** @throws PricelakeError as `createWatched` does */
export async function readWatched(db: Database, options: WatchOptions): Promise<WatchedFacts> {
  await createWatched(db, options);
  const counts = await db.row(
    `SELECT count(*) AS lines, count(*) FILTER (is_matched) AS matched, count(lowest) AS limited, count(*) FILTER (below_shops > 0) AS below,
       count(*) FILTER (undercut_shops > 0) AS undercut FROM watched`,
  );
  const reader = await db.read(
    `FROM watched ORDER BY coalesce(below_shops, 0) > 0 DESC, is_matched DESC, gap_pct DESC NULLS LAST, line LIMIT ${MOST_WATCHED}`,
  );
  const { lines, matched, limited, below, undercut } = counts as Record<
    'lines' | 'matched' | 'limited' | 'below' | 'undercut',
    bigint
  >;
  return { lines, matched, limited, below, undercut, rows: parseRows(reader, rows.watchedRow) };
}
