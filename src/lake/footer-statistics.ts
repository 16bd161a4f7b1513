import type { ThriftStruct } from '../formats/thrift.js';
import type { Database } from '../sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import type { Column, ColumnType, TableSchema } from '../tables/schemas.js';
import { type Chunk, DATA, dataOf, STATISTICS } from './parquet-footer.js';
import type { ParquetFile } from './splice-file.js';
import { BOUND_LENGTH, type ColumnStatistics } from './stats.js';

/**
 * The statistics of a file's columns, in DuckDB's texts. Readers may take a column without bounds for one of nulls alone
 * and skip the file, so each column with values has them. Lists have no statistics, and NaN has no bounds.
 */
export async function readFileStatistics(
  db: Database,
  { columns }: TableSchema,
  { path, footer: { groups } }: ParquetFile,
): Promise<Map<string, ColumnStatistics>> {
  const found = new Map<string, ColumnStatistics>();
  for (const { name, type } of columns) {
    const chunks = groups.map(({ rows, chunks }) => ({ rows, chunk: chunks.find((chunk) => chunk.name === name) }));
    if (type === 'VARCHAR[]' || chunks.some(({ chunk }) => chunk === undefined)) continue;
    found.set(name, summarize(type, chunks as { rows: number; chunk: Chunk }[]));
  }
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  const unbound = columns.filter(({ name, type }) => type === 'VARCHAR' && lacksBounds(found.get(name), rows));
  if (unbound.length > 0) await addTextBounds(db, path, unbound, found);
  return found;
}

function lacksBounds(statistics: ColumnStatistics | undefined, rows: number): boolean {
  if (statistics === undefined || statistics.get('null_count') === String(rows)) return false;
  return !statistics.has('min') || !statistics.has('max');
}

/** The footer has no bounds where a long text can't be cut: their beginnings are read from the rows. */
async function addTextBounds(
  db: Database,
  path: string,
  columns: readonly Column[],
  found: Map<string, ColumnStatistics>,
): Promise<void> {
  const bounds = columns.flatMap(({ name }, index) =>
    ['min', 'max'].map((side) => `${side}(left(${quoteIdentifier(name)}, ${BOUND_LENGTH})) AS ${side}_${index}`),
  );
  const row = await db.row(`SELECT ${bounds.join(', ')} FROM read_parquet(${quoteLiteral(path)})`);
  for (const [index, { name }] of columns.entries()) {
    const sides = ['min', 'max'].map((side) => [side, String(row?.[`${side}_${index}`])] as const);
    found.set(name, new Map([...(found.get(name) ?? []), ...sides]));
  }
}

interface ChunkStatistics {
  nulls: bigint | undefined;
  min: Buffer | undefined;
  max: Buffer | undefined;
}

function summarize(type: ColumnType, chunks: readonly { rows: number; chunk: Chunk }[]): ColumnStatistics {
  const all = chunks.map(({ rows, chunk }) => ({ rows, ...readChunkStatistics(type, dataOf(chunk.tree)) }));
  const result = new Map<string, string>();
  if (all.some(({ nulls }) => nulls === undefined)) return result;
  result.set('null_count', String(all.reduce((sum, { nulls = 0n }) => sum + nulls, 0n)));
  const filled = all.filter(({ rows, nulls }) => nulls !== BigInt(rows));
  for (const side of ['min', 'max'] as const) {
    const bounds = filled.map((one) => one[side]);
    // If any row group lacks the bound, the file has none.
    if (bounds.length === 0 || bounds.some((bound) => bound === undefined)) continue;
    const text = findBound(type, side, bounds as Buffer[]);
    if (text !== undefined) result.set(side, text);
  }
  return result;
}

function readChunkStatistics(type: ColumnType, data: ThriftStruct): ChunkStatistics {
  const statistics = data.get(DATA.statistics)?.value as ThriftStruct | undefined;
  // A text that was cut outwards, to more than a bound of the log has, is as good as the text.
  const isExact = (id: number) => type === 'VARCHAR' || statistics?.get(id)?.value !== false;
  const read = (id: number, exact: number) => (isExact(exact) ? (statistics?.get(id)?.value as Buffer) : undefined);
  return {
    nulls: statistics?.get(STATISTICS.nulls)?.value as bigint | undefined,
    min: read(STATISTICS.min, STATISTICS.isMinExact),
    max: read(STATISTICS.max, STATISTICS.isMaxExact),
  };
}

/** The lowest or highest of the bounds as text; undefined for types without an order. */
function findBound(type: ColumnType, side: 'min' | 'max', bounds: readonly Buffer[]): string | undefined {
  const pick = <T>(values: readonly T[], compare: (a: T, b: T) => number) =>
    values.reduce((best, value) => ((side === 'min' ? compare(value, best) : compare(best, value)) < 0 ? value : best));
  const order = <T>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);
  const integers = () =>
    pick(
      bounds.map((bytes) => bytes.readBigInt64LE()),
      order,
    );
  switch (type) {
    case 'BIGINT':
      return String(integers());
    case 'DECIMAL(18,4)':
      return writeUnits(integers());
    case 'TIMESTAMP WITH TIME ZONE':
      return writeInstant(integers());
    case 'DATE':
      return new Date(
        pick(
          bounds.map((bytes) => bytes.readInt32LE()),
          order,
        ) * DAY_MS,
      )
        .toISOString()
        .slice(0, 10);
    case 'DOUBLE':
      return String(
        pick(
          bounds.map((bytes) => bytes.readDoubleLE()),
          order,
        ),
      );
    case 'BOOLEAN':
      return String(
        pick(
          bounds.map((bytes) => bytes[0] === 1),
          order,
        ),
      );
    case 'VARCHAR':
      return pick(bounds, Buffer.compare).toString('utf8');
    default:
      return undefined;
  }
}

const DAY_MS = 86_400_000;

/** 125000n → `12.5000` */
function writeUnits(units: bigint): string {
  const digits = String(units < 0n ? -units : units).padStart(5, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

/** µs since 1970 → `2026-01-31 12:00:00.000001+00`; undefined for infinity and years beyond four digits. */
function writeInstant(micros: bigint): string | undefined {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const date = new Date(Number((micros - rest) / 1000n));
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0) return undefined;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')}.${String(rest).padStart(6, '0')}+00`;
}
