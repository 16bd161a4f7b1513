import {
  type DuckDBArrayValue,
  type DuckDBDateValue,
  DuckDBDecimalType,
  type DuckDBDecimalValue,
  DuckDBListType,
  type DuckDBListValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  type DuckDBTimestampTZValue,
  type DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';
import {
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Timestamp,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint64,
  Utf8,
} from 'apache-arrow';
import { valueToText } from '../../duckdb/value-json.js';
import { PricelakeError } from '../../errors/errors.js';
import type { Output } from './output.js';
import type { ResultSet } from './result-set.js';

/** Rows of a record batch; DuckDB's own chunks are too small for readers to be quick with. */
const BATCH_ROWS = 65_536;

/**
 * An Arrow IPC stream. Exact types: BIGINT → Int64, DECIMAL → Decimal128, HUGEINT → Decimal128(38, 0),
 * TIMESTAMPTZ → microseconds UTC, DATE → days, lists → List; types without an Arrow form here become text.
 * The schema's metadata holds `attribution`, the licence texts as a JSON array.
 */
export async function writeArrow({ columns, batches, credits }: ResultSet, output: Output): Promise<bigint> {
  const fields = columns.map(({ name, type }) => toArrowField(name, type));
  const schema = new Schema(fields, new Map([['attribution', JSON.stringify(credits)]]));
  const writer = new CollectingWriter();
  writer.reset(undefined, schema);
  let rows = 0n;
  let pending: DuckDBValue[][] = [];
  const flush = (): Promise<boolean> => {
    const children = columns.map(({ type }, i) =>
      buildArrowData(
        type,
        pending.map((row) => row[i] ?? null),
      ),
    );
    const data = makeData({ type: new Struct(schema.fields), length: pending.length, nullCount: 0, children });
    writer.write(new RecordBatch(schema, data));
    rows += BigInt(pending.length);
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

/** Hands its bytes out batch by batch, so that the reader's pace is ours; the library's own queue is unbounded. */
class CollectingWriter extends RecordBatchStreamWriter {
  // Declared only: the base constructor may write before a field of ours would be set.
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

/** The Arrow field of a column; all are nullable, as a query's result has no contract. */
export function toArrowField(name: string, type: DuckDBType): Field {
  return new Field(name, toArrowType(type), true);
}

function toArrowType(type: DuckDBType): DataType {
  if (type instanceof DuckDBDecimalType) return new Decimal(type.scale, type.width, 128);
  if (type instanceof DuckDBListType) return new List(toArrowField('item', type.valueType));
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
      return new Bool();
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
      return new Int32();
    case DuckDBTypeId.UINTEGER:
    case DuckDBTypeId.BIGINT:
      return new Int64();
    case DuckDBTypeId.UBIGINT:
      return new Uint64();
    case DuckDBTypeId.HUGEINT:
      return new Decimal(0, 38, 128);
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE:
      return new Float64();
    case DuckDBTypeId.DATE:
      return new DateDay();
    case DuckDBTypeId.TIMESTAMP_S:
      return new TimestampSecond();
    case DuckDBTypeId.TIMESTAMP_MS:
      return new TimestampMillisecond();
    case DuckDBTypeId.TIMESTAMP_NS:
      return new TimestampNanosecond();
    case DuckDBTypeId.TIMESTAMP:
      return new TimestampMicrosecond();
    case DuckDBTypeId.TIMESTAMP_TZ:
      return new TimestampMicrosecond('UTC');
    default:
      return new Utf8();
  }
}

/** A column's values as Arrow data of the type that `toArrowField` gives. */
function buildArrowData(duckType: DuckDBType, values: readonly DuckDBValue[]): Data {
  const type = toArrowType(duckType);
  const length = values.length;
  const { nullBitmap, nullCount } = buildValidity(values);
  if (type instanceof List) {
    const { offsets, items } = flattenLists(values as (DuckDBListValue | null)[]);
    const child = buildArrowData((duckType as DuckDBListType).valueType, items);
    return makeData({ type, length, nullCount, nullBitmap, valueOffsets: offsets, child });
  }
  if (type instanceof Utf8) {
    const texts = values.map((value) => Buffer.from(value === null ? '' : valueToText(value)));
    const { offsets, bytes } = concatenate(texts);
    return makeData({ type, length, nullCount, nullBitmap, valueOffsets: offsets, data: bytes });
  }
  const data = buildFixed(type, values);
  return makeData({ type, length, nullCount, nullBitmap, data } as Parameters<typeof makeData>[0]);
}

/** Values of a type of fixed size, zero where null. */
function buildFixed(type: DataType, values: readonly DuckDBValue[]) {
  if (type instanceof Bool) return packBits(values.map((value) => value === true));
  if (type instanceof Int32) return Int32Array.from(values, (value) => Number(value ?? 0));
  if (type instanceof Float64) return Float64Array.from(values, (value) => Number(value ?? 0));
  if (type instanceof DateDay) return Int32Array.from(values, (value) => (value as DuckDBDateValue | null)?.days ?? 0);
  if (type instanceof Uint64) return BigUint64Array.from(values, (value) => BigInt((value as bigint | null) ?? 0n));
  if (type instanceof Timestamp) return BigInt64Array.from(values, readInstant);
  if (type instanceof Decimal) return buildDecimals(values);
  return BigInt64Array.from(values, (value) => BigInt((value as bigint | number | null) ?? 0n));
}

/** The number that Arrow's unit of the value's own type counts; 0 for null. */
function readInstant(value: DuckDBValue): bigint {
  if (value instanceof DuckDBTimestampSecondsValue) return value.seconds;
  if (value instanceof DuckDBTimestampMillisecondsValue) return value.millis;
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.nanos;
  return (value as DuckDBTimestampValue | DuckDBTimestampTZValue | null)?.micros ?? 0n;
}

const LARGEST_DECIMAL = 10n ** 38n - 1n;

/** Decimal128: the unscaled integer in two's complement, 16 bytes, little-endian. */
function buildDecimals(values: readonly DuckDBValue[]): Uint32Array {
  const halves = new BigInt64Array(values.length * 2);
  for (const [i, value] of values.entries()) {
    const unscaled = typeof value === 'bigint' ? value : ((value as DuckDBDecimalValue | null)?.value ?? 0n);
    if (unscaled > LARGEST_DECIMAL || unscaled < -LARGEST_DECIMAL) {
      throw new PricelakeError('query', `${unscaled} does not fit Arrow's Decimal128(38, 0)`, {
        hint: 'Cast the column to VARCHAR, or choose another format.',
      });
    }
    halves[2 * i] = BigInt.asIntN(64, unscaled);
    halves[2 * i + 1] = BigInt.asIntN(64, unscaled >> 64n);
  }
  return new Uint32Array(halves.buffer);
}

function buildValidity(values: readonly DuckDBValue[]): { nullBitmap: Uint8Array; nullCount: number } {
  return {
    nullBitmap: packBits(values.map((value) => value !== null)),
    nullCount: values.reduce<number>((count, value) => count + (value === null ? 1 : 0), 0),
  };
}

function packBits(bits: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (const [i, bit] of bits.entries()) if (bit) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7));
  return bytes;
}

function flattenLists(values: readonly (DuckDBListValue | DuckDBArrayValue | null)[]) {
  const offsets = new Int32Array(values.length + 1);
  const items: DuckDBValue[] = [];
  for (const [i, value] of values.entries()) {
    for (const item of value?.items ?? []) items.push(item);
    offsets[i + 1] = items.length;
  }
  return { offsets, items };
}

function concatenate(texts: readonly Buffer[]): { offsets: Int32Array; bytes: Uint8Array } {
  const offsets = new Int32Array(texts.length + 1);
  for (const [i, text] of texts.entries()) offsets[i + 1] = (offsets[i] ?? 0) + text.byteLength;
  return { offsets, bytes: Buffer.concat(texts) };
}
