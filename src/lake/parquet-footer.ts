import type { FileHandle } from 'node:fs/promises';
import { readThrift, type ThriftStruct, type ThriftValue } from '../formats/thrift.js';

/** Ids of the fields of Parquet's footer (parquet.thrift) that are read or written here. */
export const FILE = { rows: 3, groups: 4, keyValues: 5, createdBy: 6 } as const;
export const GROUP = { chunks: 1, bytes: 2, rows: 3, offset: 5, compressedBytes: 6, ordinal: 7 } as const;
export const CHUNK = { offset: 2, data: 3 } as const;
export const DATA = {
  path: 3,
  bytes: 6,
  compressedBytes: 7,
  dataPage: 9,
  indexPage: 10,
  dictionaryPage: 11,
  statistics: 12,
  bloomOffset: 14,
  bloomBytes: 15,
} as const;
export const STATISTICS = { nulls: 3, max: 5, min: 6, isMaxExact: 7, isMinExact: 8 } as const;

/** All fields that a file may have to be spliced: whatever else it has could point to a place that moves. */
const KNOWN = {
  file: [1, 2, 3, 4, 5, 6, 7],
  group: [1, 2, 3, 5, 6, 7],
  chunk: [2, 3],
  data: [1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15],
};

export const MAGIC = 'PAR1';
/** The length of the footer, and the magic bytes. */
const TAIL_BYTES = 8;

/** A column of a row group: the bytes of its pages, and where they are. */
export interface Chunk {
  /** Names from the root of the schema to the leaf: `datasets.list.element`. */
  name: string;
  start: number;
  end: number;
  bloom: { start: number; end: number } | undefined;
  tree: ThriftStruct;
}

export interface RowGroup {
  rows: number;
  start: number;
  end: number;
  chunks: Chunk[];
  tree: ThriftStruct;
}

export interface Footer {
  groups: RowGroup[];
  tree: ThriftStruct;
}

/**
 * Reads the footer of a file whose parts may be moved.
 * @throws Error where the file is broken, or says something that moving its parts could make wrong
 */
export async function readFooter(file: FileHandle): Promise<Footer> {
  const { size } = await file.stat();
  const tail = await readBytes(file, size - TAIL_BYTES, size);
  const end = size - TAIL_BYTES;
  if (tail.toString('latin1', 4) !== MAGIC) throw new Error('it does not end as a Parquet file');
  const tree = readThrift(await readBytes(file, end - tail.readUInt32LE(), end));
  requireKnown(tree, KNOWN.file);
  const groups = structsOf(tree.get(FILE.groups)?.value).map((group) => readGroup(group, end));
  return { groups, tree };
}

function readGroup(tree: ThriftStruct, fileEnd: number): RowGroup {
  requireKnown(tree, KNOWN.group);
  const chunks = structsOf(tree.get(GROUP.chunks)?.value).map(readChunk);
  const [first, last] = [chunks[0], chunks.at(-1)];
  if (first === undefined || last === undefined) throw new Error('a row group has no columns');
  let at = first.start;
  for (const { start, end } of chunks) {
    if (start !== at || end > fileEnd) throw new Error('the columns of a row group do not follow each other');
    at = end;
  }
  return { rows: Number(readInteger(tree, GROUP.rows)), start: first.start, end: last.end, chunks, tree };
}

function readChunk(tree: ThriftStruct): Chunk {
  requireKnown(tree, KNOWN.chunk);
  const data = dataOf(tree);
  requireKnown(data, KNOWN.data);
  const offsets = [DATA.dataPage, DATA.dictionaryPage].flatMap((id) => {
    const offset = data.has(id) ? Number(readInteger(data, id)) : 0;
    return offset > 0 ? [offset] : [];
  });
  const start = Math.min(...offsets);
  const bloomStart = data.has(DATA.bloomOffset) ? Number(readInteger(data, DATA.bloomOffset)) : undefined;
  const bloom =
    bloomStart === undefined
      ? undefined
      : { start: bloomStart, end: bloomStart + Number(readInteger(data, DATA.bloomBytes)) };
  const path = data.get(DATA.path)?.value as { values: Buffer[] };
  const name = path.values.map((part) => part.toString('utf8')).join('.');
  return { name, start, end: start + Number(readInteger(data, DATA.compressedBytes)), bloom, tree };
}

export const dataOf = (chunk: ThriftStruct) => chunk.get(CHUNK.data)?.value as ThriftStruct;

function requireKnown(tree: ThriftStruct, known: readonly number[]): void {
  const odd = [...tree.keys()].find((id) => !known.includes(id));
  if (odd !== undefined) throw new Error(`its footer has a field ${odd} that is not known`);
}

export function structsOf(value: ThriftValue | undefined): ThriftStruct[] {
  return (value as { values: ThriftStruct[] }).values;
}

export function readInteger(tree: ThriftStruct, id: number): bigint {
  const value = tree.get(id)?.value;
  if (typeof value !== 'bigint') throw new Error(`its footer lacks field ${id}`);
  return value;
}

export async function readBytes(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - start));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, Math.max(0, start));
  if (start < 0 || bytesRead !== bytes.length) throw new Error('it ends too early');
  return bytes;
}
