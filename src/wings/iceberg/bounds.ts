import { isLosslessNumber, parse } from 'lossless-json';
import type { Column, ColumnType, TableSchema } from '../../tables/schemas.js';
import type { DataFile } from '../../tables/table.js';

/** The statistics of a file's columns, in the form in which a manifest stores them. The keys are field ids. */
export interface FileMetrics {
  values: Map<number, number>;
  nulls: Map<number, number>;
  lower: Map<number, Buffer>;
  upper: Map<number, Buffer>;
}

const DAY_MS = 86_400_000;

/** The statistics of a file in a Delta log. Numbers are kept as text, so that large bounds keep all digits. */
interface DeltaStats {
  minValues?: Record<string, unknown>;
  maxValues?: Record<string, unknown>;
  nullCount?: Record<string, unknown>;
}

/**
 * Converts a file's statistics in the Delta log to Iceberg metrics. The bounds include all values of the file. The log
 * has no statistics for a partition column, so the partition value becomes its lower and upper bound.
 */
export function describeMetrics({ columns }: TableSchema, { stats, rows, partitionValues }: DataFile): FileMetrics {
  const { minValues = {}, maxValues = {}, nullCount = {} } = parse(stats) as DeltaStats;
  const metrics: FileMetrics = { values: new Map(), nulls: new Map(), lower: new Map(), upper: new Map() };
  for (const [index, { name, type }] of columns.entries()) {
    const id = index + 1;
    if (type === 'VARCHAR[]') continue;
    const isPartition = name in partitionValues;
    const value = partitionValues[name] ?? undefined;
    const nulls = isPartition ? (value === undefined ? Number(rows) : 0) : readCount(nullCount[name]);
    if (nulls === undefined) continue;
    metrics.values.set(id, Number(rows));
    metrics.nulls.set(id, nulls);
    const lower = isPartition ? value : writeText(minValues[name]);
    const upper = isPartition ? value : writeText(maxValues[name]);
    // A column gets both bounds or neither, because some readers require both.
    if (lower === undefined || upper === undefined) continue;
    metrics.lower.set(id, encodeValue(type, lower));
    metrics.upper.set(id, encodeValue(type, upper));
  }
  return metrics;
}

const readCount = (value: unknown): number | undefined => (isLosslessNumber(value) ? Number(value.value) : undefined);

function writeText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return isLosslessNumber(value) ? value.value : String(value);
}

/** Encodes a value of the Delta log in Iceberg's binary form (Iceberg specification, Appendix D). */
export function encodeValue(type: Exclude<Column['type'], 'VARCHAR[]'>, text: string): Buffer {
  switch (type) {
    case 'BIGINT':
      return writeInt64(BigInt(text));
    case 'DECIMAL(18,4)':
      return writeUnscaled(readUnits(text));
    case 'TIMESTAMP WITH TIME ZONE':
      return writeInt64(BigInt(Date.parse(text)) * 1000n);
    case 'DATE': {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32LE(readDays(text));
      return bytes;
    }
    case 'DOUBLE': {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(Number(text));
      return bytes;
    }
    case 'BOOLEAN':
      return Buffer.from([text === 'true' ? 1 : 0]);
    case 'VARCHAR':
      return Buffer.from(text);
  }
}

const readDays = (text: string): number => Math.round(Date.parse(`${text}T00:00:00Z`) / DAY_MS);

export type PartitionValue = string | number | bigint | boolean | null;

export function readPartitionValue(type: ColumnType, text: string | null): PartitionValue {
  if (text === null) return null;
  if (type === 'BIGINT') return BigInt(text);
  if (type === 'DATE') return readDays(text);
  return type === 'BOOLEAN' ? text === 'true' : text;
}

function writeInt64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

/** Converts a decimal to a number of ten-thousandths. For example, `12.5` becomes 125000n. */
function readUnits(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(4, '0').slice(0, 4));
}

/** Encodes an integer in two's complement with the highest byte first, in as few bytes as possible. */
function writeUnscaled(units: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(units);
  let start = 0;
  const sign = units < 0n ? 0xff : 0;
  while (start < 7 && bytes[start] === sign && ((bytes[start + 1] as number) & 0x80) === (sign & 0x80)) start += 1;
  return bytes.subarray(start);
}
