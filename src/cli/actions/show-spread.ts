import type { DuckDBValue } from '@duckdb/node-api';
import { type Conversion, convertSpreads, prepareConversion } from '../../analyze/exchange-rates.js';
import { findMatch, keyByMatch } from '../../analyze/matched-views.js';
import { requireKnown, selectSpreads } from '../../analyze/spread-selection.js';
import { countOf, formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import type { Database } from '../../sql/connection.js';
import { readAnalysis } from '../../sql/model.js';
import type { Arguments, CommandContext } from '../command.js';
import type { spread } from '../commands/read.js';
import { findTarget, type ReadingTarget } from '../find-target.js';
import { joinLakes } from '../join-lakes.js';
import { wrapText } from '../output/display-width.js';
import { showAmount } from '../output/money.js';
import { readTableResult, withoutEmpty } from '../output/result-set.js';
import { isForEyes, requireDestination, writeResult } from '../output/write-result.js';
import { readLake } from '../read-lake.js';
import { showProduct } from './show-product.js';

/** The columns that a terminal shows, with their headings. If the terminal is narrow, the last columns are omitted. */
const SHOWN = {
  title: 'title',
  trusted_spread_pct: 'spread %',
  grade: 'grade',
  currency: 'in',
  trusted_min: 'min',
  trusted_max: 'max',
  trusted_cheapest_shop: 'min at',
  trusted_dearest_shop: 'max at',
  product_id: 'product',
  trusted_median: 'median',
  trusted_shops: 'shops',
  left_out: 'left out',
  grade_reason: 'grade because',
  in_stock_min: 'in stock',
  in_stock_shop: 'in stock at',
  delivered_min: 'delivered',
  delivered_shop: 'delivered by',
} as const;

/** Columns with values from mapped attributes. They are omitted if they have no values. */
const FROM_ATTRIBUTES = ['in_stock_min', 'in_stock_shop', 'delivered_min', 'delivered_shop'] as const;

const SHOWN_DAYS = {
  day: 'day',
  title: 'title',
  trusted_spread_pct: 'spread %',
  grade: 'grade',
  currency: 'in',
  trusted_min: 'min',
  trusted_max: 'max',
  trusted_cheapest_shop: 'min at',
  trusted_dearest_shop: 'max at',
  product_id: 'product',
  converted_min: 'min in base',
  converted_median: 'median in base',
  converted_max: 'max in base',
  trusted_median: 'median',
  trusted_shops: 'shops',
  left_out: 'left out',
} as const;

const CREDITS = 'SELECT DISTINCT unnest(attribution) AS text FROM spreads ORDER BY text';
const DAY_MS = 24 * 3600 * 1000;

export async function showSpread(asked: Arguments<typeof spread>, context: CommandContext) {
  await requireDestination(asked, context);
  refuseDailyMatches(asked);
  const target = await findTarget({ pipeline: asked.pipeline, lake: await joinLakes(asked, context) });
  const conversion = findConversion(asked, target);
  const since = readSince(asked, context.io.now());
  return readLake({ path: target.lake, ...context }, async (opened) => {
    const { db } = opened;
    const request = asked.by === 'match' ? await compareMatches(db, asked) : asked;
    const selection = { ...request, since };
    // If there are exchange rates, all prices are converted to the base currency. The requested currency is then
    // accepted even if no shop uses it.
    await requireKnown(db, conversion === undefined ? request : { ...request, currency: undefined });
    await selectSpreads(db, selection);
    if (request.product !== undefined && request.daily !== true) {
      return showProduct(opened, { ...selection, product: request.product, conversion }, context);
    }
    await createResult(db, request.daily === true, conversion);
    const headings = request.daily === true ? SHOWN_DAYS : await withoutEmpty(db, 'spreads', SHOWN, FROM_ATTRIBUTES);
    const result = await readTableResult(opened, 'spreads', CREDITS);
    const report = await writeResult(result, request, context, { headings, show });
    const leftOut = await describeLeftOut(db, context.output.columns);
    if (isForEyes(request, context) && request.output === undefined) await context.output.write(leftOut.text);
    else if (leftOut.count > 0n) context.io.log('info', 'spreads left out', { count: leftOut.count });
    return report;
  });
}

/**
 * Makes the views treat matched products as one product. If the request is about one product, returns it with the id of
 * the product's match.
 */
async function compareMatches(db: Database, request: Arguments<typeof spread>): Promise<Arguments<typeof spread>> {
  await keyByMatch(db);
  return request.product === undefined ? request : { ...request, product: await findMatch(db, request.product) };
}

function refuseDailyMatches({ by, daily }: Arguments<typeof spread>): void {
  if (by !== 'match' || daily !== true) return;
  throw new PricelakeError('usage', "--daily reports each product separately, so it can't be used with --by match", {
    hint: 'Remove --daily.',
  });
}

async function describeLeftOut(db: Database, columns: number | undefined): Promise<{ count: bigint; text: string }> {
  const row = await db.row(readAnalysis('spread_left_out'));
  const count = row?.left_out as bigint;
  const text = `${formatCount(count)} of ${countOf(row?.spreads as bigint, 'spread')} are hidden, because their prices contradict each other or too few can be trusted. Show them with --grade C.`;
  return { count, text: count === 0n ? '' : `\n${wrapText(text, columns)}\n` };
}

/** Creates the `spreads` table, which holds only the rows to show. */
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

/** Formats a value for a terminal, with the spread rounded to one decimal. */
function show(name: string, value: DuckDBValue, read: (name: string) => DuckDBValue): DuckDBValue {
  if (name === 'trusted_spread_pct' && typeof value === 'number') return value.toFixed(1);
  return showAmount(name, value, read('currency'));
}

function findConversion(request: Arguments<typeof spread>, { settings }: ReadingTarget): Conversion | undefined {
  const file = request.fx ?? settings?.analysis.fx;
  if (file === undefined) return undefined;
  const base = request.fxBase ?? settings?.analysis.fxBase ?? 'EUR';
  if (request.currency === undefined || request.daily === true || request.currency === base) return { file, base };
  throw new PricelakeError(
    'usage',
    `--currency ${request.currency} doesn't match any prices, because all prices are converted to ${base}`,
    {
      hint: 'Remove --currency, or add --daily.',
    },
  );
}

function readSince({ since, daily, product }: Arguments<typeof spread>, now: Date): string | undefined {
  if (since === undefined) return undefined;
  if (daily !== true && product === undefined) {
    throw new PricelakeError('usage', '--since only works with --daily or --product', { hint: 'Add --daily.' });
  }
  if ('day' in since) return since.day;
  return new Date(now.getTime() - since.daysAgo * DAY_MS).toISOString().slice(0, 10);
}
