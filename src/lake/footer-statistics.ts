import type { ThriftStruct } from '../formats/thrift.js';
import type { ColumnType, TableSchema } from '../tables/schemas.js';
import { type Chunk, DATA, dataOf, type Footer, STATISTICS } from './parquet-footer.js';
import type { ColumnStatistics } from './stats.js';

/** The statistics of a file's columns, from those of its row groups, in DuckDB's texts. Lists have none. */
export function readFooterStatistics({ columns }: TableSchema, { groups }: Footer): Map<string, ColumnStatistics> {
  return new Map(
    columns.flatMap(({ name, type }) => {
      const chunks = groups.map(({ rows, chunks }) => ({ rows, chunk: chunks.find((chunk) => chunk.name === name) }));
      if (type === 'VARCHAR[]' || chunks.some(({ chunk }) => chunk === undefined)) return [];
      return [[name, summarize(type, chunks as { rows: number; chunk: Chunk }[])] as const];
    }),
  );
}

interface ChunkStatistics {
  nulls: bigint | undefined;
  min: Buffer | undefined;
  max: Buffer | undefined;
}

function summarize(type: ColumnType, chunks: readonly { rows: number; chunk: Chunk }[]): ColumnStatistics {
  const all = chunks.map(({ rows, chunk }) => ({ rows, ...readChunkStatistics(dataOf(chunk.tree)) }));
  const result = new Map<string, string>();
  if (all.some(({ nulls }) => nulls === undefined)) return result;
  result.set('null_count', String(all.reduce((sum, { nulls = 0n }) => sum + nulls, 0n)));
  const filled = all.filter(({ rows, nulls }) => nulls !== BigInt(rows));
  for (const side of ['min', 'max'] as const) {
    const bounds = filled.map((one) => one[side]);
    // A bound that one row group does not tell is not known.
    if (bounds.length === 0 || bounds.some((bound) => bound === undefined)) continue;
    const text = findBound(type, side, bounds as Buffer[]);
    if (text !== undefined) result.set(side, text);
  }
  return result;
}

function readChunkStatistics(data: ThriftStruct): ChunkStatistics {
  const statistics = data.get(DATA.statistics)?.value as ThriftStruct | undefined;
  const isExact = (id: number) => statistics?.get(id)?.value !== false;
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
