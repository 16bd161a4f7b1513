import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DuckDBListValue, type DuckDBValue } from '@duckdb/node-api';
import { createCompliance, createSuggested, createWatched, nameState } from '../../analyze/watch-list.js';
import { countOf } from '../../formats/count.js';
import { syncFile, syncFolder } from '../../io/durable.js';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import type { Database } from '../../sql/connection.js';
import { quoteLiteral } from '../../sql/quote.js';
import { valueToText } from '../../sql/value-json.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { watch } from '../commands/read.js';
import { findTarget } from '../find-target.js';
import { RawJson } from '../json-text.js';
import { findWatchMemory } from '../notify/notice-memory.js';
import { notify } from '../notify/notify.js';
import { findPriceAlarms } from '../notify/price-alarms.js';
import { resolveFlags, seekReceivers } from '../notify/receivers.js';
import { showAmount, trimZeros } from '../output/money.js';
import type { Output } from '../output/output.js';
import { type ResultSet, readTableResult, withoutEmpty } from '../output/result-set.js';
import { writeRows } from '../output/text-formats.js';
import { requireDestination, writeResult } from '../output/write-result.js';
import { type OpenedLake, readLake } from '../read-lake.js';

const SHOWN = {
  product: 'product',
  price: 'your price',
  currency: 'in',
  position: 'place',
  shops: 'of',
  cheapest: 'cheapest',
  cheapest_shop: 'cheapest at',
  gap: 'gap',
  in_stock_cheapest: 'in stock',
  in_stock_shop: 'in stock at',
  delivered_cheapest: 'delivered',
  delivered_shop: 'delivered by',
  median: 'median',
  undercut_since: 'undercut since',
  below_first: 'below allowed',
  below_since: 'since',
  alarm: 'alarm',
  unsure_because: 'unsure because',
  reason: 'not found',
  left_out: 'left out',
  changes: 'changed',
} as const;

/** Columns that are omitted if they have no values. */
const RARE = ['in_stock_cheapest', 'in_stock_shop', 'delivered_cheapest', 'delivered_shop', 'alarm'] as const;

/** The most important columns. A narrow terminal omits all other columns before it omits these. */
const KEPT = ['product', 'price', 'currency', 'cheapest', 'cheapest_shop', 'alarm', 'unsure_because'];

const SHOWN_BREACHES = {
  product: 'product',
  currency: 'currency',
  allowed: 'allowed',
  episode: 'episode',
  place: 'place',
  shop: 'shop',
  from_at: 'from',
  to_at: 'to',
  days: 'days',
  lowest_price: 'lowest price',
  alarm: 'alarm',
  unsure_because: 'unsure because',
  url: 'evidence',
} as const;

const SHOWN_SUGGESTED = {
  product: 'product',
  currency: 'currency',
  price: 'your price',
  suggested: 'suggested',
  reason: 'reason',
} as const;

const HINTS = {
  watched:
    'The `below allowed` column, which narrow terminals omit, shows the first shop. To see all shops, use --format csv and read the below_now column.',
  compliance: 'To see the shops, look at the rows where is_now is true.',
  suggested: 'To see the shops, run the command without --suggest.',
} as const;

type Table = keyof typeof HINTS;

/**
 * Compares a price list with the lake.
 * @throws PricelakeError `below_allowed`, after writing the result, if a shop is below a lowest allowed price
 */
export async function watchPrices(request: Arguments<typeof watch>, context: CommandContext) {
  await requireDestination(request, context);
  const { name, receivers } = await openReceivers(request, context);
  const { lake: path } = await findTarget(request);
  return readLake({ path, signal: context.signal }, async (opened) => {
    const { db } = opened;
    if (request.suggest !== undefined) {
      await createSuggested(db, request, request.suggest);
      return finishWatch(opened, 'suggested', SHOWN_SUGGESTED, request, context);
    }
    if (request.compliance) {
      await createCompliance(db, request);
      return finishWatch(opened, 'compliance', SHOWN_BREACHES, request, context);
    }
    const state = request.state ?? nameState(request.list);
    // A result with suspect prices is neither compared with the saved state nor saved.
    const before = !request.withSuspects && existsSync(state) ? state : undefined;
    await createWatched(db, { ...request, before, now: context.io.now() });
    const keep = async () => {
      await keepState(db, state);
      const alarms = receivers.length === 0 ? [] : await findPriceAlarms(db, request.unsure === true, context.io.now());
      const news = { pipeline: name, command: 'watch', find: () => alarms, isComplete: true } as const;
      await notify(receivers, news, findWatchMemory(state), context.io);
    };
    const headings = await withoutEmpty(db, 'watched', SHOWN, RARE);
    return finishWatch(opened, 'watched', headings, request, context, request.withSuspects ? undefined : keep);
  });
}

/** Writes the result and saves the state for the next run. Then throws if a shop is below a lowest allowed price. */
async function finishWatch(
  opened: OpenedLake,
  table: Table,
  headings: Record<string, string>,
  request: Arguments<typeof watch>,
  context: CommandContext,
  keep?: () => Promise<void>,
) {
  const credits = `SELECT DISTINCT unnest(attribution) AS text FROM ${table} ORDER BY text`;
  const result = await readTableResult(opened, table, credits);
  const report =
    context.json && request.output === undefined
      ? await gatherReport(result)
      : await writeResult(result, request, context, { headings, kept: KEPT, show });
  await keep?.();
  await refuseBelow(opened.db, report, HINTS[table], request.unsure === true);
  return report;
}

async function openReceivers(request: Arguments<typeof watch>, { io }: CommandContext) {
  const flagged = resolveFlags(request.notify, process.env, io);
  const { name, receivers } = await seekReceivers(request, process.env, io);
  return { name, receivers: [...receivers, ...flagged] };
}

function show(name: string, value: DuckDBValue, read: (name: string) => DuckDBValue): DuckDBValue {
  if (value instanceof DuckDBListValue) return value.items.map((one) => trimZeros(String(one))).join('; ') || null;
  if (name === 'days') return Number(value).toFixed(1);
  if (name.endsWith('since') || name.endsWith('_at')) return value === null ? null : valueToText(value).slice(0, 10);
  return showAmount(name, value, read('currency'));
}

/**
 * Builds the report that `--json` prints. Keeps its rows in memory as JSON text, because they are printed only after
 * the check for alarms.
 */
async function gatherReport(result: ResultSet): Promise<CommandReport> {
  const parts: string[] = [];
  const output: Output = { columns: undefined, write: async (chunk) => parts.push(String(chunk)) > 0 };
  await writeRows(result, output, ',');
  return { rows: new RawJson(`[${parts.join('')}]`), attribution: result.credits };
}

/** Writes the state to a temporary file and renames the file, so that a killed run leaves the old state intact. */
async function keepState(db: Database, state: string): Promise<void> {
  const part = `${state}.part`;
  try {
    await db.run(`COPY watched TO ${quoteLiteral(part)} (FORMAT parquet)`);
    await syncFile(part);
    await rename(part, state);
    await syncFolder(dirname(state));
  } catch (cause) {
    await rm(part, { force: true });
    const isRefused =
      hasSystemCode(cause, 'EACCES', 'EROFS', 'ENOENT') || /^IO Error/u.test(String((cause as Error).message));
    if (!isRefused) throw cause;
    const hint = 'Choose another file with --state.';
    throw new PricelakeError('usage', `can't write ${state}`, { hint }, { cause });
  }
}

/** Throws if a shop is certainly below a lowest allowed price. With `unsure`, also throws if a shop may be below it. */
async function refuseBelow(
  db: Database,
  report: CommandReport | undefined,
  hint: string,
  unsure: boolean,
): Promise<void> {
  const row = await db.row("SELECT count(*) AS products FROM found WHERE alarm = 'sure' OR (alarm = 'unsure' AND $1)", [
    unsure,
  ]);
  const products = Number(row?.products ?? 0);
  if (products === 0) return;
  throw new PricelakeError(
    'below_allowed',
    `shops sell ${countOf(products, 'product')} below your lowest allowed price`,
    {
      ...report,
      products,
      hint,
    },
  );
}
