import { DuckDBListValue, type DuckDBResult, type DuckDBValue } from '@duckdb/node-api';
import { streamWidestSpreads } from '../../analyze/widest-spreads.js';
import { PricelakeError } from '../../errors.js';
import type { Format } from '../output/format-names.js';
import { type ResultSet, toResultSet } from '../output/result-set.js';
import { requireOneOwner, writeResult } from '../output/write-result.js';
import { readLake } from '../read-lake.js';
import type { CommandContext, CommandReport } from '../run-command.js';

export interface SpreadRequest {
  lake: string;
  currency?: string | undefined;
  minShops: number;
  top: number;
  outliers: boolean;
  format?: Format | undefined;
  output?: string | undefined;
}

/** Columns that a person reads, with their headings; the other formats have all columns. */
const SHOWN = {
  product_id: 'product',
  title: 'title',
  currency: 'currency',
  offers: 'offers',
  shops: 'shops',
  min: 'min',
  median: 'median',
  max: 'max',
  spread_pct: 'spread %',
  cheapest_shop: 'cheapest',
  dearest_shop: 'dearest',
  outliers: 'outliers',
} as const;

/** Shows the widest price spreads of a lake, with the licence texts of the open-data shops in them. */
export async function showSpread(request: SpreadRequest, context: CommandContext): Promise<CommandReport | undefined> {
  const destination = { format: request.format, file: request.output };
  requireOneOwner(destination, context.json);
  requireCount('--min-shops', request.minShops);
  requireCount('--top', request.top);
  return readLake({ path: request.lake, signal: context.signal }, async ({ db }) => {
    const selection = { ...request, withOutliers: request.outliers };
    const result = await readSpreads(await streamWidestSpreads(db, selection));
    const forEyes = !context.json && (request.format ?? 'table') === 'table';
    return writeResult(forEyes ? selectShown(result) : result, destination, context);
  });
}

/** The rows are few: they are read whole, so that the credits are known before the first byte is written. */
async function readSpreads(result: DuckDBResult): Promise<ResultSet> {
  const { columns } = toResultSet(result);
  const rows = await result.getRows();
  const at = columns.findIndex(({ name }) => name === 'attribution');
  const credits = new Set<string>();
  for (const row of rows) {
    const texts = row[at];
    if (texts instanceof DuckDBListValue) for (const text of texts.items) credits.add(String(text));
  }
  return { columns, batches: toBatches(rows), credits: [...credits].sort() };
}

function selectShown(result: ResultSet): ResultSet {
  const kept = Object.entries(SHOWN).map(([name, heading]) => {
    const index = result.columns.findIndex((column) => column.name === name);
    return { index, name, heading };
  });
  const columns = kept.map(({ index, heading }) => ({
    ...result.columns[index],
    name: heading,
  })) as ResultSet['columns'];
  return {
    columns,
    batches: mapBatches(result.batches, (row) => kept.map(({ index, name }) => show(name, row[index] ?? null))),
    credits: result.credits,
  };
}

/** One decimal is enough for a share; `!` draws the eye to prices far from all others. */
function show(name: string, value: DuckDBValue): DuckDBValue {
  if (name === 'spread_pct' && typeof value === 'number') return value.toFixed(1);
  if (name === 'outliers' && typeof value === 'bigint') return value > 0n ? `${value} !` : '';
  return value;
}

async function* toBatches(rows: DuckDBValue[][]): AsyncGenerator<DuckDBValue[][]> {
  if (rows.length > 0) yield rows;
}

async function* mapBatches(
  batches: ResultSet['batches'],
  map: (row: DuckDBValue[]) => DuckDBValue[],
): AsyncGenerator<DuckDBValue[][]> {
  for await (const batch of batches) yield batch.map(map);
}

function requireCount(flag: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new PricelakeError('usage', `${flag} must be a whole number, 0 or more`);
}
