import type { DuckDBValue } from '@duckdb/node-api';
import { readAnalysis } from '../../analyze/analysis.js';
import { type Conversion, convertSpreads, prepareConversion } from '../../analyze/convert-prices.js';
import { requireKnown } from '../../analyze/require-known.js';
import { type Grade, selectSpreads } from '../../analyze/spread-selection.js';
import type { Database } from '../../duckdb/connection.js';
import { PricelakeError } from '../../errors/errors.js';
import type { Format } from '../output/format-names.js';
import { type ResultSet, toResultSet } from '../output/result-set.js';
import { selectColumns, showMoney } from '../output/select-columns.js';
import { wrapText } from '../output/wrap-text.js';
import { requireDestination, writeResult } from '../output/write-result.js';
import { readLake } from '../read-lake.js';
import { findTarget, type ReadingArguments, type ReadingTarget } from '../reading-target.js';
import type { CommandContext, CommandReport } from '../run-command.js';
import { showProduct } from './show-product.js';

export interface SpreadRequest extends ReadingArguments {
  currency?: string | undefined;
  category?: string | undefined;
  brand?: string | undefined;
  product?: string | undefined;
  minShops: number;
  top: number;
  outliers: boolean;
  grade?: Grade | undefined;
  daily?: boolean | undefined;
  /** A day, or how far back: `30d`. */
  since?: string | undefined;
  /** A file of exchange rates. */
  fx?: string | undefined;
  fxBase?: string | undefined;
  format?: Format | undefined;
  output?: string | undefined;
}

/** Columns that a person reads, with their headings, what matters most first: a narrow terminal leaves out the last. */
const SHOWN = {
  product_id: 'product',
  title: 'title',
  currency: 'in',
  trusted_min: 'min',
  trusted_max: 'max',
  trusted_spread_pct: 'spread %',
  grade: 'grade',
  trusted_cheapest_shop: 'cheapest',
  trusted_dearest_shop: 'most expensive',
  trusted_median: 'median',
  trusted_shops: 'shops',
  left_out: 'left out',
} as const;

/** The same of days, which have no grades. */
const SHOWN_DAYS = {
  day: 'day',
  product_id: 'product',
  title: 'title',
  currency: 'in',
  min: 'min',
  max: 'max',
  spread_pct: 'spread %',
  cheapest_shop: 'cheapest',
  dearest_shop: 'most expensive',
  converted_min: 'min in base',
  converted_median: 'median in base',
  converted_max: 'max in base',
  median: 'median',
  shops: 'shops',
  offers: 'offers',
  outliers: 'outliers',
} as const;

const DAY_MS = 24 * 3600 * 1000;

/** Shows the widest price spreads of a lake, or one product, with the licence texts of the open-data shops in them. */
export async function showSpread(request: SpreadRequest, context: CommandContext): Promise<CommandReport | undefined> {
  const destination = { format: request.format, file: request.output };
  requireDestination(destination, context);
  requireCount('--min-shops', request.minShops);
  requireCount('--top', request.top);
  const target = await findTarget(request, process.env);
  const conversion = findConversion(request, target);
  const selection = { ...request, withOutliers: request.outliers, since: readSince(request, context.io.now()) };
  return readLake({ path: target.lake, signal: context.signal }, async (opened) => {
    const { db } = opened;
    // With exchange rates all prices are in the base, whether a shop has it or not.
    await requireKnown(db, conversion === undefined ? request : { ...request, currency: undefined });
    await selectSpreads(db, selection);
    if (request.product !== undefined && request.daily !== true) {
      return showProduct(opened, { ...selection, product: request.product, conversion, destination }, context);
    }
    await createResult(db, request.daily === true, conversion);
    const result = await readSpreads(db, opened.scratch);
    const forEyes = !context.json && (request.format ?? 'table') === 'table';
    const shown = request.daily === true ? SHOWN_DAYS : SHOWN;
    const report = await writeResult(forEyes ? selectColumns(result, shown, show) : result, destination, context);
    const leftOut = await describeLeftOut(db, context.output.columns);
    if (forEyes && request.output === undefined) await context.output.write(leftOut.text);
    else if (leftOut.count > 0n) context.io.log('info', 'spreads left out', { count: leftOut.count });
    return report;
  });
}

/** How many of the selected spreads are hidden because of their grade. */
async function describeLeftOut(db: Database, columns: number | undefined): Promise<{ count: bigint; text: string }> {
  const row = await db.row(readAnalysis('spread_left_out'));
  const count = row?.left_out as bigint;
  const text = `${count} of ${row?.spreads} spreads are left out, because prices contradict each other or too few can be trusted. See them with --grade C.`;
  return { count, text: count === 0n ? '' : `\n${wrapText(text, columns)}\n` };
}

/** Temp table `spreads`: the rows are few. */
async function createResult(db: Database, daily: boolean, conversion: Conversion | undefined): Promise<void> {
  const create = (sql: string) => db.run(`CREATE OR REPLACE TABLE spreads AS ${sql}`);
  if (!daily) {
    if (conversion !== undefined) await convertSpreads(db, conversion);
    return create(readAnalysis('widest_spreads'));
  }
  if (conversion === undefined) return create(readAnalysis('daily_spreads'));
  await prepareConversion(db, conversion);
  await db.run(`CREATE OR REPLACE TABLE daily_spreads AS ${readAnalysis('daily_spreads')}`);
  return create(readAnalysis('converted_days'));
}

/** Read whole, so that the credits are known before the first byte is written. */
async function readSpreads(db: Database, scratch: string): Promise<ResultSet> {
  const credits = await db.rows('SELECT DISTINCT unnest(attribution) AS text FROM spreads ORDER BY text');
  const result = toResultSet(
    await db.connection.stream('FROM spreads'),
    credits.map(({ text }) => String(text)),
  );
  return { ...result, relation: { db, from: 'spreads', scratch } };
}

/** One decimal is enough for a share; `!` draws the eye to prices far from all others. */
function show(name: string, value: DuckDBValue, read: (name: string) => DuckDBValue): DuckDBValue {
  const marked = Number(read('outliers')) > 0;
  if (name === 'trusted_spread_pct' && typeof value === 'number') return value.toFixed(1);
  if (name === 'spread_pct' && typeof value === 'number') return `${value.toFixed(1)} ${marked ? '!' : ' '}`;
  if (name === 'outliers') return marked ? value : null;
  return showMoney(value);
}

function findConversion(request: SpreadRequest, { settings }: ReadingTarget): Conversion | undefined {
  const file = request.fx ?? settings?.analysis.fx;
  if (file === undefined) return undefined;
  const base = request.fxBase ?? settings?.analysis.fxBase ?? 'EUR';
  if (request.currency === undefined || request.daily === true || request.currency === base) return { file, base };
  throw new PricelakeError('usage', `--currency ${request.currency}: with exchange rates all prices are in ${base}`, {
    hint: 'Leave --currency out, or --daily in.',
  });
}

/** `2026-11-20` or `30d` as a day. */
function readSince({ since, daily, product }: SpreadRequest, now: Date): string | undefined {
  if (since === undefined) return undefined;
  if (daily !== true && product === undefined) {
    throw new PricelakeError('usage', '--since is for --daily and --product', { hint: 'Add --daily.' });
  }
  const [, days] = /^(\d{1,4})d$/u.exec(since) ?? [];
  const day = days === undefined ? since : new Date(now.getTime() - Number(days) * DAY_MS).toISOString().slice(0, 10);
  if (/^\d{4}-\d{2}-\d{2}$/u.test(day) && !Number.isNaN(Date.parse(day))) return day;
  throw new PricelakeError('usage', `--since ${since} is neither a day such as 2026-11-20 nor a time such as 30d`);
}

function requireCount(flag: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new PricelakeError('usage', `${flag} must be a whole number, 0 or more`);
}
