import { readFileSync } from 'node:fs';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import avro from 'avsc';
import type { Snapshot, TableMetadata } from '../../../src/wings/iceberg/table-metadata.js';

/** The metadata that the hint refers to. */
export function readMetadata(folder: string): TableMetadata {
  const version = readFileSync(path.join(folder, 'version-hint.text'), 'utf8');
  return JSON.parse(readFileSync(path.join(folder, `v${version}.metadata.json`), 'utf8')) as TableMetadata;
}

export interface FoundFile {
  address: string;
  path: string;
  rows: bigint;
  bytes: bigint;
  partition: Record<string, unknown>;
  nulls: Map<number, bigint>;
  lower: Map<number, Buffer>;
  upper: Map<number, Buffer>;
}

interface Entry {
  status: number;
  data_file: Record<string, unknown> & {
    file_path: string;
    null_value_counts: { key: number; value: bigint }[];
    lower_bounds: { key: number; value: Buffer }[];
    upper_bounds: { key: number; value: Buffer }[];
  };
}

/** The live files of a snapshot. The manifests are read by avsc's own decoder. */
export function readFiles(snapshot: Snapshot | undefined, lake: string, base = `file://${lake}`): FoundFile[] {
  const toPath = (address: string) => path.join(lake, address.replace(`${base}/`, ''));
  const manifests = decode(toPath(snapshot?.['manifest-list'] ?? '')) as { manifest_path: string }[];
  const entries = manifests.flatMap(({ manifest_path }) => decode(toPath(manifest_path)) as Entry[]);
  return entries
    .filter(({ status }) => status !== 2)
    .map(({ data_file }) => ({
      address: data_file.file_path,
      path: toPath(data_file.file_path),
      rows: data_file.record_count as bigint,
      bytes: data_file.file_size_in_bytes as bigint,
      partition: data_file.partition as Record<string, unknown>,
      nulls: toMap(data_file.null_value_counts),
      lower: toMap(data_file.lower_bounds),
      upper: toMap(data_file.upper_bounds),
    }));
}

const toMap = <T>(pairs: { key: number; value: T }[]) => new Map(pairs.map(({ key, value }) => [key, value]));

function decode(file: string): unknown[] {
  const bytes = readFileSync(file);
  const records: unknown[] = [];
  const decoder = new avro.streams.BlockDecoder({
    codecs: {
      deflate: (block: Buffer, done: (error: null, data: Buffer) => void) => done(null, inflateRawSync(block)),
    },
    parseHook: (schema: never) =>
      avro.Type.forSchema(schema, { registry: { long: bigLong }, wrapUnions: false } as never),
  } as never);
  decoder.on('data', (record: unknown) => records.push(record));
  decoder.end(bytes);
  while (decoder.read() !== null);
  return records;
}

const bigLong = avro.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: () => Buffer.alloc(8),
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: () => 0,
} as never);
