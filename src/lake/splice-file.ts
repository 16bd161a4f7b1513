import { type FileHandle, open } from 'node:fs/promises';
import { I64, LIST, STRUCT, type ThriftStruct, writeThrift } from '../formats/thrift.js';
import {
  type Chunk,
  DATA,
  dataOf,
  FILE,
  type Footer,
  GROUP,
  MAGIC,
  type RowGroup,
  readBytes,
  readFooter,
} from './parquet-footer.js';

export interface ParquetFile {
  path: string;
  footer: Footer;
}

/** A row group of a spliced file. */
export type GroupPart =
  /** As it is in the file that is spliced. */
  | { kind: 'kept'; group: number }
  /** As it is there, with some columns from another file, which has the same rows in one row group. */
  | { kind: 'columns'; group: number; from: ParquetFile }
  /** All row groups of another file. */
  | { kind: 'rows'; from: ParquetFile };

/** A column of a row group, and the file that its bytes are in. */
interface Piece {
  path: string;
  chunk: Chunk;
}

/** Reads the footer of a file to splice. @throws Error if it is broken, or has fields that are not known */
export async function readParquet(path: string): Promise<ParquetFile> {
  return withFiles([path], async (file) => ({ path, footer: await readFooter(file(path)) }));
}

/** Lends files, each opened once. Few are open at a time, however many row groups change. */
async function withFiles<T>(paths: readonly string[], work: (file: (path: string) => FileHandle) => Promise<T>) {
  const files = new Map<string, FileHandle>();
  try {
    for (const path of new Set(paths)) files.set(path, await open(path, 'r'));
    return await work((path) => files.get(path) as FileHandle);
  } finally {
    for (const file of files.values()) await file.close();
  }
}

/**
 * Writes a file of row groups of other ones: bytes of columns are copied as they are. Row groups follow each other and
 * columns are in the order of the schema, because readers rely on it. Key-value metadata is that of `newest`.
 * @returns the footer of the new file
 */
export async function writeSplicedFile(
  target: string,
  base: ParquetFile,
  parts: readonly GroupPart[],
  newest: ParquetFile,
): Promise<{ footer: Footer; bytes: number }> {
  const groups = parts.flatMap((part) => listPieces(base, part));
  const file = await open(target, 'wx');
  try {
    const writer = new Writer(file);
    await writer.write([Buffer.from(MAGIC, 'latin1')]);
    const written: RowGroup[] = [];
    const blooms: Bloom[] = [];
    for (const { group, pieces } of groups) {
      const copied = await copyGroup(writer, group, pieces, written.length);
      written.push(copied.group);
      blooms.push(...copied.blooms);
    }
    for (const { chunk, bytes } of blooms) {
      dataOf(chunk.tree).set(DATA.bloomOffset, { type: I64, value: BigInt(writer.at) });
      chunk.bloom = { start: writer.at, end: writer.at + bytes.length };
      await writer.write([bytes]);
    }
    const tree = describeFile(base.footer.tree, newest.footer.tree, written);
    const footer = writeThrift(tree);
    const tail = Buffer.alloc(4 + MAGIC.length);
    tail.writeUInt32LE(footer.length);
    tail.write(MAGIC, 4, 'latin1');
    await writer.write([footer, tail]);
    return { footer: { groups: written, tree }, bytes: writer.at };
  } finally {
    await file.close();
  }
}

function listPieces(base: ParquetFile, part: GroupPart): { group: RowGroup; pieces: Piece[] }[] {
  if (part.kind === 'rows') {
    const { path, footer } = part.from;
    return footer.groups.map((group) => ({ group, pieces: group.chunks.map((chunk) => ({ path, chunk })) }));
  }
  const group = base.footer.groups[part.group];
  if (group === undefined) throw new Error(`${base.path} has no row group ${part.group}`);
  const own = group.chunks.map((chunk) => ({ path: base.path, chunk }));
  return [{ group, pieces: part.kind === 'kept' ? own : replaceColumns(group, own, part.from) }];
}

function replaceColumns(group: RowGroup, own: Piece[], { path, footer }: ParquetFile): Piece[] {
  const [other, ...more] = footer.groups;
  if (other === undefined || more.length > 0 || other.rows !== group.rows) {
    throw new Error(`${path} does not have the ${group.rows} rows of the row group in one row group`);
  }
  const columns = new Map(other.chunks.map((chunk) => [chunk.name, chunk]));
  const pieces = own.map((piece) => {
    const chunk = columns.get(piece.chunk.name);
    columns.delete(piece.chunk.name);
    return chunk === undefined ? piece : { path, chunk };
  });
  const [unknown] = columns.keys();
  if (unknown !== undefined) throw new Error(`${path} has a column ${unknown}, which the row group lacks`);
  return pieces;
}

class Writer {
  readonly #file: FileHandle;
  at = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(bytes: Buffer[]): Promise<void> {
    const length = bytes.reduce((sum, { length }) => sum + length, 0);
    let { bytesWritten } = await this.#file.writev(bytes, this.at);
    if (bytesWritten !== length) {
      const rest = Buffer.concat(bytes).subarray(bytesWritten);
      for (let from = 0; from < rest.length; from += bytesWritten) {
        ({ bytesWritten } = await this.#file.write(
          rest,
          from,
          rest.length - from,
          this.at + length - rest.length + from,
        ));
      }
    }
    this.at += length;
  }
}

/** A Bloom filter of a copied column. These come behind all row groups. */
interface Bloom {
  chunk: Chunk;
  bytes: Buffer;
}

/** Copies the columns of a row group. Those that follow each other in a file are read at once. */
async function copyGroup(
  writer: Writer,
  group: RowGroup,
  pieces: readonly Piece[],
  ordinal: number,
): Promise<{ group: RowGroup; blooms: Bloom[] }> {
  const start = writer.at;
  const runs: { path: string; start: number; end: number }[] = [];
  const chunks: Chunk[] = [];
  let at = start;
  for (const { path, chunk } of pieces) {
    const run = runs.at(-1);
    if (run?.path === path && run.end === chunk.start) run.end = chunk.end;
    else runs.push({ path, start: chunk.start, end: chunk.end });
    chunks.push(moveChunk(chunk, at));
    at += chunk.end - chunk.start;
  }
  const blooms = await withFiles(
    runs.map(({ path }) => path),
    async (file) => {
      await writer.write(await Promise.all(runs.map((run) => readBytes(file(run.path), run.start, run.end))));
      const read = async ({ path, chunk: { bloom } }: Piece, index: number): Promise<Bloom[]> =>
        bloom === undefined
          ? []
          : [{ chunk: chunks[index] as Chunk, bytes: await readBytes(file(path), bloom.start, bloom.end) }];
      return (await Promise.all(pieces.map(read))).flat();
    },
  );
  const tree = describeGroup(group.tree, chunks, start, ordinal);
  return { group: { rows: group.rows, start, end: at, chunks, tree }, blooms };
}

/** The chunk at another place. Offsets of its pages move with it; where its Bloom filter comes to is said later. */
function moveChunk(chunk: Chunk, start: number): Chunk {
  const data: ThriftStruct = new Map(dataOf(chunk.tree));
  for (const id of [DATA.dataPage, DATA.indexPage, DATA.dictionaryPage]) {
    const field = data.get(id);
    const offset = field?.value as bigint | undefined;
    // DuckDB writes 0 for a page that a chunk does not have.
    if (field === undefined || offset === undefined || offset <= 0n) continue;
    data.set(id, { ...field, value: offset - BigInt(chunk.start) + BigInt(start) });
  }
  return { ...chunk, start, end: start + chunk.end - chunk.start, tree: withData(chunk.tree, data) };
}

function withData(tree: ThriftStruct, data: ThriftStruct): ThriftStruct {
  return new Map([...tree].map(([id, field]) => [id, field.type === STRUCT ? { ...field, value: data } : field]));
}

function describeGroup(tree: ThriftStruct, chunks: readonly Chunk[], start: number, ordinal: number): ThriftStruct {
  const sum = (id: number) =>
    chunks.reduce((total, chunk) => total + (dataOf(chunk.tree).get(id)?.value as bigint), 0n);
  const values = new Map<number, bigint>([
    [GROUP.bytes, sum(DATA.bytes)],
    [GROUP.offset, BigInt(start)],
    [GROUP.compressedBytes, sum(DATA.compressedBytes)],
    [GROUP.ordinal, BigInt(ordinal)],
  ]);
  const trees = { of: STRUCT, values: chunks.map((chunk) => chunk.tree) };
  return new Map(
    [...tree].map(([id, field]) => {
      if (id === GROUP.chunks) return [id, { ...field, value: trees }];
      const value = values.get(id);
      return [id, value === undefined ? field : { ...field, value }];
    }),
  );
}

function describeFile(base: ThriftStruct, newest: ThriftStruct, groups: readonly RowGroup[]): ThriftStruct {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  const trees = { of: STRUCT, values: groups.map(({ tree }) => tree) };
  const replaced: ThriftStruct = new Map(base);
  replaced.set(FILE.rows, { type: I64, value: BigInt(rows) });
  replaced.set(FILE.groups, { type: LIST, value: trees });
  const keyValues = newest.get(FILE.keyValues);
  if (keyValues !== undefined) replaced.set(FILE.keyValues, keyValues);
  return new Map([...replaced].sort(([a], [b]) => a - b));
}
