import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import avro from 'avsc';

/** Represents Avro's int64 as a bigint. Tables are partitioned by website ids, which may exceed 2^53. */
const longType = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

export type AvroSchema = { type: 'record'; name: string; fields: unknown[] };

const readType = (schema: AvroSchema) =>
  avro.Type.forSchema(schema as never, { registry: { long: longType }, wrapUnions: false } as never);

const MAGIC = Buffer.from('Obj\u0001');
const headerType = avro.Type.forSchema({ type: 'map', values: 'bytes' });
const plainLong = avro.Type.forSchema('long');
const SYNC_LENGTH = 16;

/**
 * Encodes records as an Avro object container file with one block. The file isn't written by the encoder of the avsc
 * package. With a type that represents int64 as a bigint, that encoder would omit the field ids of the schema.
 */
export function writeAvroFile(
  schema: AvroSchema,
  records: readonly unknown[],
  metadata: Record<string, string>,
): Buffer {
  const type = readType(schema);
  const block = deflateRawSync(Buffer.concat(records.map((record) => type.toBuffer(record))));
  const header = { 'avro.schema': JSON.stringify(schema), 'avro.codec': 'deflate', ...metadata };
  const entries = Object.entries(header).map(([key, text]) => [key, Buffer.from(text)]);
  const sync = createHash('sha256').update(block).digest().subarray(0, SYNC_LENGTH);
  return Buffer.concat([
    MAGIC,
    headerType.toBuffer(Object.fromEntries(entries)),
    sync,
    ...(records.length === 0
      ? []
      : [plainLong.toBuffer(records.length), plainLong.toBuffer(block.length), block, sync]),
  ]);
}

/** Decodes a file that `writeAvroFile` has encoded. @throws Error for any other file */
export function readAvroFile(schema: AvroSchema, bytes: Buffer): unknown[] {
  const { value: header, offset } = headerType.decode(bytes, MAGIC.length);
  const { 'avro.schema': written } = header as Record<string, Buffer>;
  if (offset < 0 || written?.toString() !== JSON.stringify(schema)) throw new Error('the file has a different schema');
  let at = offset + SYNC_LENGTH;
  if (at === bytes.length) return [];
  const read = () => {
    const { value, offset } = plainLong.decode(bytes, at);
    at = offset;
    return value as number;
  };
  const [count, length] = [read(), read()];
  const block = inflateRawSync(bytes.subarray(at, at + length));
  const type = readType(schema);
  const records: unknown[] = [];
  for (let from = 0; records.length < count; ) {
    const { value, offset } = type.decode(block, from);
    if (offset < 0) throw new Error('the file is truncated');
    records.push(value);
    from = offset;
  }
  return records;
}
