import { type DayRange, selectDailySpreads } from '../../analyze/daily-spread.js';
import { isEmptyFile } from '../../lake/data-file.js';
import { KEEP, replaceAll, replaceRows, type TableChange } from '../../lake/table-change.js';
import type { NextLake, StagedTable, Staging } from '../../run/open/stage.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { columnsOf, join, type Sql, sql } from '../../sql/sql.js';
import type { Applied, DataFile, TableState } from '../../tables/table.js';
import { DAY_MS } from './service-time.js';

const TABLE = 'price_spread_daily';

/** The relations from which the rows for closed days are computed. */
export interface DaySources {
  items: Relation;
  history: Relation;
  sites: Relation;
  runs: Relation;
  /** The items that the run changes, as they were before the run. Undefined if the lake had no items table. */
  itemsBefore: Relation | undefined;
}

/**
 * Adds the UTC days that have ended since the last run. Also recomputes earlier days for which the run has new data. A
 * website's new license text alone doesn't cause that.
 * @param now the current time according to the service
 */
export async function stageDays(
  staging: Staging,
  next: Pick<NextLake, 'rows'>,
  itemsBefore: Relation | undefined,
  now: Date,
): Promise<StagedTable> {
  const { standing, tables, pipeline } = staging.found;
  if (standing[TABLE] === 'committed') return staging.keep(TABLE);
  const table = tables[TABLE];
  const days = pipeline.analysis.daily;
  if (days === 0) {
    const none = { day: 0n, firstDay: 0n };
    return table.files.every(isEmptyFile)
      ? staging.keep(TABLE)
      : staging.stage(TABLE, replaceAll(table, undefined), none);
  }
  const [items, history, sites] = [await next.rows('items'), await next.rows('history'), await next.rows('sites')];
  const sources = { items, history, sites, itemsBefore, runs: await next.rows('runs') };
  const kept = table.applied.day;
  const closed = BigInt(Math.floor(now.getTime() / DAY_MS)) - 1n;
  const redone = kept > 0n ? await redoDays(staging, sources, kept) : KEEP;
  const first = await findFirstDay(staging.graph, sources, kept, closed - BigInt(days) + 1n);
  const hasNew = first !== undefined && first <= closed;
  const marks: Partial<Applied> = hasNew ? { day: closed, ...(kept === 0n ? { firstDay: first } : {}) } : {};
  const range = hasNew ? { first: formatDay(first), last: formatDay(closed) } : undefined;
  const staged = await staging.stageParts(
    TABLE,
    redone,
    joinParts(redone, range && selectDays(staging, sources, range)),
    marks,
  );
  const { change } = staged;
  const isSame = change !== undefined && change.add.length + change.remove.length + Object.keys(marks).length === 0;
  return isSame ? staging.keep(TABLE) : staged;
}

async function* joinParts({ rows }: TableChange, parts: AsyncIterable<Sql> | undefined): AsyncGenerator<Sql> {
  if (rows !== undefined) yield rows;
  if (parts !== undefined) yield* parts;
}

function selectDays(
  { graph, runId }: Staging,
  sources: Omit<DaySources, 'items'> & { items: Relation | Sql },
  days: DayRange,
) {
  return selectDailySpreads(graph, sources, { ...days, runId });
}

/**
 * Returns the first day to add, as the number of days since 1970. This is the day after the last stored day. If no day
 * is stored, it is the first day with history or a run. The setting `daily` limits how far back the day may be. Returns
 * undefined if the lake has neither stored days nor history nor runs.
 */
async function findFirstDay(
  graph: RelationGraph,
  { history, runs }: DaySources,
  kept: bigint,
  limit: bigint,
): Promise<bigint | undefined> {
  if (kept > 0n) return kept + 1n > limit ? kept + 1n : limit;
  const row = await graph.row(sql`SELECT epoch(least(
      (SELECT min(observed_date) FROM ${history}),
      (SELECT min(timezone('UTC', started_at)::DATE) FROM ${runs})
    ))::BIGINT // 86400 AS day`);
  const reach = row?.day as bigint | null | undefined;
  if (reach === null || reach === undefined) return undefined;
  return reach > limit ? reach : limit;
}

/**
 * Recomputes the stored days of products with new data. Such data is a change that arrived after its day had ended, or
 * an item that is new or has a different product, website or currency. Replaces only rows that differ.
 */
async function redoDays(staging: Staging, sources: DaySources, kept: bigint): Promise<TableChange> {
  const { graph, runId } = staging;
  const { before, tables } = staging.found;
  const state = tables[TABLE];
  const last = formatDay(kept);
  const products = await findTouchedProducts(staging, sources, last);
  const touched = await graph.row(sql`SELECT strftime(min(from_day), '%Y-%m-%d') AS first FROM ${products}`);
  if (touched?.first === null || touched?.first === undefined) return KEEP;
  const first = String(touched.first);
  const values = columnsOf(TABLE, ['run_id']);
  const remade = await remakeDays(staging, sources, products, first, last);
  const old = await before.part(
    TABLE,
    withRows(state).filter((file) => (readDays(file)?.last ?? first) >= first),
  );
  const oldDays = graph.table(
    'old_days',
    sql`SELECT ${values} FROM ${old.rows} JOIN ${products} USING (product_id)
    WHERE day >= CAST(${first} AS DATE) AND day >= from_day`,
  );
  const gone = graph.table(
    'void_days',
    sql`SELECT product_id, currency, day FROM (FROM ${oldDays} EXCEPT FROM ${remade})`,
  );
  return replaceRows(graph, old, {
    key: 'product_id, currency, day',
    gone,
    added: sql`SELECT ${values}, ${runId} AS run_id FROM (FROM ${remade} EXCEPT FROM ${oldDays})`,
  });
}

/**
 * Finds the products whose stored days may differ, with the first such day of each product. If a change is the first
 * one that is known of an item, the days before it may differ too, because the change contains the values before it.
 * No day is earlier than the first stored day, because earlier days would have rows of only these products.
 */
async function findTouchedProducts(
  staging: Staging,
  { items, history, itemsBefore }: DaySources,
  last: string,
): Promise<Relation> {
  const { graph, runId } = staging;
  const first = (await readFirstDay(staging)) ?? last;
  // Without earlier items, as in a rebuild that starts with a full copy, items can't be compared.
  const isCompared = itemsBefore !== undefined;
  const before = itemsBefore ?? graph.empty('items_before', 'items');
  const select = sql`WITH news AS (
       -- A change may replace a difference that was dated up to two minutes earlier.
       SELECT item_id, timezone('UTC', observed_at - INTERVAL 2 MINUTE)::DATE AS day FROM ${history}
       WHERE run_id = ${runId}
     ),
     late AS (
       SELECT item_id, min(day) AS day FROM news WHERE day <= CAST(${last} AS DATE) GROUP BY item_id
     ),
     late_items AS (
       SELECT item_id, min(late.day) AS day, arg_min(run_id, observed_at) = ${runId} AS is_first
       FROM ${history} JOIN late USING (item_id)
       GROUP BY item_id
     ),
     present AS NOT MATERIALIZED (
       SELECT item_id, product_id, site_id, currency, run_id,
         greatest(coalesce(timezone('UTC', first_seen_at)::DATE, CAST(${first} AS DATE)), CAST(${first} AS DATE)) AS seen_day
       FROM ${items}
     )
     SELECT product_id, greatest(min(from_day), CAST(${first} AS DATE)) AS from_day FROM (
       SELECT product_id, CASE WHEN is_first THEN least(day, seen_day) ELSE day END AS from_day
       FROM late_items JOIN present USING (item_id)
       UNION ALL
       SELECT unnest([before.product_id, present.product_id]), seen_day
       FROM present
       LEFT JOIN ${before} AS before USING (item_id)
       WHERE present.run_id = ${runId} AND ${isCompared}
         AND (before.item_id IS NULL OR (before.product_id, before.site_id, before.currency)
           IS DISTINCT FROM (present.product_id, present.site_id, present.currency))
     )
     WHERE product_id IS NOT NULL AND from_day <= CAST(${last} AS DATE)
     GROUP BY product_id`;
  return graph.table('touched_products', select);
}

/** Returns the first day in the table. Reads the rows of a file only if its statistics don't include the days. */
async function readFirstDay({ graph, found: { before, tables } }: Staging): Promise<string | undefined> {
  const { firstDay } = tables[TABLE].applied;
  const files = withRows(tables[TABLE]);
  const noted = files.flatMap((file) => readDays(file)?.first ?? []);
  const known = [...noted, ...(firstDay === undefined ? [] : [formatDay(firstDay)])].sort()[0];
  const others = await before.part(
    TABLE,
    files.filter((file) => readDays(file) === undefined),
  );
  const row = await graph.row(
    sql`SELECT least(min(day), CAST(${known ?? null} AS DATE))::VARCHAR AS day FROM ${others.rows}`,
  );
  return row?.day === null || row === undefined ? undefined : String(row.day);
}

/** Computes the rows of the affected products and days from the current data. */
async function remakeDays(
  staging: Staging,
  sources: DaySources,
  products: Relation,
  first: string,
  last: string,
): Promise<Relation> {
  const { graph } = staging;
  const values = columnsOf(TABLE, ['run_id']);
  const items = sql`SELECT * FROM ${sources.items} SEMI JOIN ${products} USING (product_id)`;
  const parts: Relation[] = [];
  for await (const rows of selectDays(staging, { ...sources, items }, { first, last })) {
    const part = graph.table(
      'remade_days',
      sql`SELECT ${values} FROM (${rows}) JOIN ${products} USING (product_id) WHERE day >= from_day`,
    );
    await part.made;
    parts.push(part);
  }
  if (parts.length === 0) return graph.view('remade_days', sql`SELECT ${values} FROM ${graph.empty(TABLE, TABLE)}`);
  return graph.view(
    'remade_days',
    join(
      parts.map((part) => sql`FROM ${part}`),
      ' UNION ALL ',
    ),
  );
}

const withRows = ({ files }: TableState) => files.filter((file) => !isEmptyFile(file));

/** Returns the first and the last day in a file according to its statistics; undefined without statistics. */
function readDays({ stats }: DataFile): { first: string; last: string } | undefined {
  const { minValues, maxValues } = JSON.parse(stats) as Record<'minValues' | 'maxValues', { day?: string } | undefined>;
  const [first, last] = [minValues?.day, maxValues?.day];
  return first === undefined || last === undefined ? undefined : { first, last };
}

/** Formats a number of days since 1970 as `2026-11-20`. */
function formatDay(day: bigint): string {
  return new Date(Number(day) * DAY_MS).toISOString().slice(0, 10);
}
