import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';
import * as duckdb from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { PricelakeError } from '../../io/errors.js';
import { valueToText } from '../../sql/value-json.js';
import type { Output } from './output.js';
import type { ResultSet } from './result-set.js';

/** The number of rows in a record batch. DuckDB's chunks have fewer rows, but small batches slow readers down. */
const BATCH_ROWS = 65_536;

/**
 * Writes an Arrow IPC stream with exact types. Values of types that Arrow doesn't have become strings. In the metadata
 * of the schema, `attribution` is a JSON array of the license texts. For the result of a query, `source` describes what
 * the rows depend on.
 */
export async function writeArrow({ columns, batches, credits, source }: ResultSet, output: Output): Promise<bigint> {
  const fields = columns.map(({ name, type }) => toArrowField(name, type));
  const metadata = new Map([['attribution', JSON.stringify(credits)]]);
  if (source !== undefined) metadata.set('source', source);
  const schema = new arrow.Schema(fields, metadata);
  const writer = new CollectingWriter();
  writer.reset(undefined, schema);
  let rows = 0n;
  let pending: DuckDBValue[][] = [];
  const flush = (): Promise<boolean> => {
    const { length } = pending;
    const readColumn = (i: number) => pending.map((row) => row[i] ?? null);
    const children = columns.map(({ type }, i) => buildArrowData(type, readColumn(i)));
    const data = arrow.makeData({ type: new arrow.Struct(schema.fields), length, nullCount: 0, children });
    writer.write(new arrow.RecordBatch(schema, data));
    rows += BigInt(length);
    pending = [];
    return output.write(writer.take());
  };
  for await (const batch of batches) {
    pending.push(...batch);
    if (pending.length >= BATCH_ROWS && !(await flush())) return rows;
  }
  if (pending.length > 0) await flush();
  writer.finish();
  await output.write(writer.take());
  return rows;
}

/**
 * Collects the bytes of a batch, so that the caller can wait until the reader has taken them. The Arrow library itself
 * would queue any number of bytes.
 */
class CollectingWriter extends arrow.RecordBatchStreamWriter {
  // This has no initializer. It would run after the base constructor and discard the bytes that the constructor wrote.
  declare private collected: Uint8Array[] | undefined;

  protected override _write(chunk: ArrayBufferView): this {
    if (!this._started) return this;
    this.collected ??= [];
    this.collected.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    return this;
  }

  take(): Uint8Array {
    const bytes = Buffer.concat(this.collected ?? []);
    this.collected = [];
    return bytes;
  }
}

/** Returns a nullable field, because columns of a query may contain NULL. */
export function toArrowField(name: string, type: DuckDBType): arrow.Field {
  return new arrow.Field(name, toArrowType(type), true);
}

const ARROW_TYPES: Partial<Record<duckdb.DuckDBTypeId, () => arrow.DataType>> = {
  [duckdb.DuckDBTypeId.BOOLEAN]: () => new arrow.Bool(),
  [duckdb.DuckDBTypeId.TINYINT]: () => new arrow.Int32(),
  [duckdb.DuckDBTypeId.SMALLINT]: () => new arrow.Int32(),
  [duckdb.DuckDBTypeId.INTEGER]: () => new arrow.Int32(),
  [duckdb.DuckDBTypeId.UTINYINT]: () => new arrow.Int32(),
  [duckdb.DuckDBTypeId.USMALLINT]: () => new arrow.Int32(),
  [duckdb.DuckDBTypeId.UINTEGER]: () => new arrow.Int64(),
  [duckdb.DuckDBTypeId.BIGINT]: () => new arrow.Int64(),
  [duckdb.DuckDBTypeId.UBIGINT]: () => new arrow.Uint64(),
  [duckdb.DuckDBTypeId.HUGEINT]: () => new arrow.Decimal(0, 38, 128),
  [duckdb.DuckDBTypeId.FLOAT]: () => new arrow.Float64(),
  [duckdb.DuckDBTypeId.DOUBLE]: () => new arrow.Float64(),
  [duckdb.DuckDBTypeId.DATE]: () => new arrow.DateDay(),
  [duckdb.DuckDBTypeId.TIMESTAMP_S]: () => new arrow.TimestampSecond(),
  [duckdb.DuckDBTypeId.TIMESTAMP_MS]: () => new arrow.TimestampMillisecond(),
  [duckdb.DuckDBTypeId.TIMESTAMP_NS]: () => new arrow.TimestampNanosecond(),
  [duckdb.DuckDBTypeId.TIMESTAMP]: () => new arrow.TimestampMicrosecond(),
  [duckdb.DuckDBTypeId.TIMESTAMP_TZ]: () => new arrow.TimestampMicrosecond('UTC'),
};

function toArrowType(type: DuckDBType): arrow.DataType {
  if (type instanceof duckdb.DuckDBDecimalType) return new arrow.Decimal(type.scale, type.width, 128);
  if (type instanceof duckdb.DuckDBListType) return new arrow.List(toArrowField('item', type.valueType));
  return ARROW_TYPES[type.typeId]?.() ?? new arrow.Utf8();
}

function buildArrowData(duckType: DuckDBType, values: readonly DuckDBValue[]): arrow.Data {
  const type = toArrowType(duckType);
  const length = values.length;
  const nullBitmap = packBits(values.map((value) => value !== null));
  const nullCount = values.filter((value) => value === null).length;
  if (type instanceof arrow.List) {
    const lists = values.map((value) => (value as duckdb.DuckDBListValue | null)?.items ?? []);
    const child = buildArrowData((duckType as duckdb.DuckDBListType).valueType, lists.flat());
    const valueOffsets = toOffsets(lists.map((list) => list.length));
    return arrow.makeData({ type, length, nullCount, nullBitmap, valueOffsets, child });
  }
  if (type instanceof arrow.Utf8) {
    const texts = values.map((value) => Buffer.from(value === null ? '' : valueToText(value)));
    const valueOffsets = toOffsets(texts.map((text) => text.byteLength));
    return arrow.makeData({ type, length, nullCount, nullBitmap, valueOffsets, data: Buffer.concat(texts) });
  }
  const data = buildFixed(type, values);
  return arrow.makeData({ type, length, nullCount, nullBitmap, data } as Parameters<typeof arrow.makeData>[0]);
}

/** Builds the values of a column whose type has a fixed size. NULL is stored as zero. */
function buildFixed(type: arrow.DataType, values: readonly DuckDBValue[]) {
  if (type instanceof arrow.Bool) return packBits(values.map((value) => value === true));
  if (type instanceof arrow.Int32) return Int32Array.from(values, (value) => Number(value ?? 0));
  if (type instanceof arrow.Float64) return Float64Array.from(values, (value) => Number(value ?? 0));
  if (type instanceof arrow.DateDay)
    return Int32Array.from(values, (value) => (value as duckdb.DuckDBDateValue | null)?.days ?? 0);
  if (type instanceof arrow.Uint64)
    return BigUint64Array.from(values, (value) => BigInt((value as bigint | null) ?? 0n));
  if (type instanceof arrow.Timestamp) return BigInt64Array.from(values, readInstant);
  if (type instanceof arrow.Decimal) return buildDecimals(values);
  return BigInt64Array.from(values, (value) => BigInt((value as bigint | number | null) ?? 0n));
}

function readInstant(value: DuckDBValue): bigint {
  if (value instanceof duckdb.DuckDBTimestampSecondsValue) return value.seconds;
  if (value instanceof duckdb.DuckDBTimestampMillisecondsValue) return value.millis;
  if (value instanceof duckdb.DuckDBTimestampNanosecondsValue) return value.nanos;
  return (value as duckdb.DuckDBTimestampValue | duckdb.DuckDBTimestampTZValue | null)?.micros ?? 0n;
}

const LARGEST_DECIMAL = 10n ** 38n - 1n;

/**
 * Builds Decimal128 values. Each is an unscaled integer of 16 bytes in two's complement, with the lowest byte first.
 */
function buildDecimals(values: readonly DuckDBValue[]): Uint32Array {
  const halves = new BigInt64Array(values.length * 2);
  for (const [i, value] of values.entries()) {
    const unscaled = typeof value === 'bigint' ? value : ((value as duckdb.DuckDBDecimalValue | null)?.value ?? 0n);
    if (unscaled > LARGEST_DECIMAL || unscaled < -LARGEST_DECIMAL) {
      throw new PricelakeError('query', `${unscaled} doesn't fit into Arrow's Decimal128(38, 0)`, {
        hint: 'Cast the column to VARCHAR, or use another format.',
      });
    }
    halves[2 * i] = BigInt.asIntN(64, unscaled);
    halves[2 * i + 1] = BigInt.asIntN(64, unscaled >> 64n);
  }
  return new Uint32Array(halves.buffer);
}

function packBits(bits: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (const [i, bit] of bits.entries()) if (bit) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7));
  return bytes;
}

function toOffsets(lengths: readonly number[]): Int32Array {
  const offsets = new Int32Array(lengths.length + 1);
  for (const [i, length] of lengths.entries()) offsets[i + 1] = (offsets[i] ?? 0) + length;
  return offsets;
}
