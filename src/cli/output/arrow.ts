import type { DuckDBValue } from '@duckdb/node-api';
import { makeData, RecordBatch, RecordBatchStreamWriter, Schema, Struct } from 'apache-arrow';
import { buildArrowData, toArrowField } from './arrow-column.js';
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
