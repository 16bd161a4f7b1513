import { access, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DuckDBValue } from '@duckdb/node-api';
import { createWatched } from '../../analyze/watch-list.js';
import type { Database } from '../../duckdb/connection.js';
import { quoteLiteral } from '../../duckdb/quote.js';
import { valueToText } from '../../duckdb/value-json.js';
import { hasSystemCode, PricelakeError } from '../../errors/errors.js';
import { syncFile, syncFolder } from '../../io/durable.js';
import type { Arguments } from '../command.js';
import type { watch } from '../commands/watch.js';
import { findTarget } from '../find-target.js';
import { RawJson } from '../json-text.js';
import type { Output } from '../output/output.js';
import { type ResultSet, selectColumns, showMoney, toResultSet } from '../output/result-set.js';
import { writeRows } from '../output/text-formats.js';
import { requireDestination, writeResult } from '../output/write-result.js';
import { readLake } from '../read-lake.js';
import type { CommandContext, CommandReport } from '../run-command.js';

/** Columns that a person reads, what matters most first; the other formats have all. */
const SHOWN = {
  product: 'product',
  price: 'your price',
  currency: 'currency',
  position: 'position',
  shops: 'shops',
  cheapest: 'cheapest',
  cheapest_shop: 'shop',
  gap: 'gap',
  median: 'median',
  undercut_since: 'undercut since',
  below_first: 'below allowed',
  below_since: 'since',
  reason: 'not found',
  changes: 'changed',
} as const;

/**
 * Compares a price list with the lake, and keeps what it found for the next run.
 * @throws PricelakeError `below_allowed`, after the result is written, when a shop is below a lowest allowed price
 */
export async function watchPrices(
  request: Arguments<typeof watch>,
  context: CommandContext,
): Promise<CommandReport | undefined> {
  const destination = { format: request.format, file: request.output };
  requireDestination(destination, context);
  const state = request.state ?? `${request.list}.watch.parquet`;
  const { lake: path } = await findTarget(request, process.env);
  return readLake({ path, signal: context.signal }, async ({ db, scratch }) => {
    const before = await access(state).then(
      () => state,
      () => undefined,
    );
    await createWatched(db, { ...request, before, now: context.io.now() });
    const report =
      context.json && request.output === undefined
        ? await gatherReport(await readWatched(db, scratch))
        : await writeResult(await showWatched(db, scratch, request, context), destination, context);
    await keepState(db, state);
    await refuseBelow(db, report);
    return report;
  });
}

async function readWatched(db: Database, scratch: string): Promise<ResultSet> {
  const credits = await db.rows('SELECT DISTINCT unnest(attribution) AS text FROM watched ORDER BY text');
  const texts = credits.map(({ text }) => String(text));
  const result = toResultSet(await db.connection.stream('FROM watched'), texts);
  return { ...result, relation: { db, from: 'watched', scratch } };
}

async function showWatched(db: Database, scratch: string, request: Arguments<typeof watch>, { json }: CommandContext) {
  const result = await readWatched(db, scratch);
  const forEyes = !json && (request.format ?? 'table') === 'table';
  return forEyes ? selectColumns(result, SHOWN, show) : result;
}

function show(name: string, value: DuckDBValue): DuckDBValue {
  if (name.endsWith('since')) return value === null ? null : valueToText(value).slice(0, 10);
  return showMoney(value);
}

/** The rows as JSON text: the line is written once it is known whether a price is below the allowed one. */
async function gatherReport(result: ResultSet): Promise<CommandReport> {
  const parts: string[] = [];
  const output: Output = { columns: undefined, write: async (chunk) => parts.push(String(chunk)) > 0 };
  await writeRows(result, output, { open: '', between: ',' });
  return { rows: new RawJson(`[${parts.join('')}]`), attribution: result.credits };
}

/** Beside, then in place: a run that is killed leaves the file of the one before. */
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
    throw new PricelakeError(
      'usage',
      `${state} cannot be written`,
      { hint: 'Name another file with --state.' },
      { cause },
    );
  }
}

async function refuseBelow(db: Database, report: CommandReport | undefined): Promise<void> {
  const row = await db.row('SELECT count(*) AS products, sum(below_shops) AS shops FROM watched WHERE below_shops > 0');
  const products = Number(row?.products ?? 0);
  if (products === 0) return;
  const what = products === 1 ? 'a product is' : `${products} products are`;
  throw new PricelakeError('below_allowed', `${what} offered below your lowest allowed price`, {
    ...report,
    products,
    hint: 'Columns below_now and below_first name the shops.',
  });
}
