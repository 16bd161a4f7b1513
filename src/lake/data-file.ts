import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { type FileMetaData, parquetMetadataAsync } from 'hyparquet';
import { PricelakeError } from '../io/errors.js';
import type { DataFile } from '../tables/table.js';
import { readNumRecords } from './delta-actions.js';

/** True if the log has the file's checksum. Files written by other programs have no checksum, and may lack columns. */
export const isSealed = ({ sha256 }: Pick<DataFile, 'sha256'>) => sha256 !== undefined;

/** True if the log records zero rows. A table without rows has one such file, so that readers can find its columns. */
export function isEmptyFile({ stats }: Pick<DataFile, 'stats'>): boolean {
  return readNumRecords(stats) === 0;
}

export interface Expectation {
  rows: bigint;
  bytes: number;
  columns: string[];
}

const ZSTD = 'ZSTD';
const CHUNK_BYTES = 1 << 20;

/**
 * Syncs a Parquet file, checks its footer with an independent reader (hyparquet), and returns the file's SHA-256
 * digest.
 * @throws PricelakeError `lake_invalid` if the rows, bytes, columns or codecs in the footer aren't the expected ones
 */
export function sealDataFile(path: string, expected: Expectation): Promise<string> {
  return withFile(path, 'r+', async (file) => {
    await file.sync();
    await checkFooter(path, file, expected);
    return hashBytes(file);
  });
}

async function withFile<T>(path: string, flags: string, work: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

export interface FooterFacts {
  bytes: number;
  rows: bigint;
  rowsInGroups: bigint;
  columns: string[];
  codecs: string[];
}

/** Reads the footer of a data file. @throws PricelakeError `lake_invalid` if it can't be read */
export function readFooterFacts(path: string): Promise<FooterFacts> {
  return withFile(path, 'r', (file) => describeFooter(path, file));
}

async function describeFooter(path: string, file: FileHandle): Promise<FooterFacts> {
  const { size: bytes } = await file.stat();
  const footer = await readFooter(path, file, bytes);
  const columns: string[] = [];
  for (let i = 1; i < footer.schema.length; i += countElements(footer.schema, i)) {
    columns.push(footer.schema[i]?.name ?? '');
  }
  const rowsInGroups = footer.row_groups.reduce((sum, group) => sum + group.num_rows, 0n);
  const codecs = new Set(
    footer.row_groups.flatMap((group) => group.columns.map((chunk) => chunk.meta_data?.codec ?? 'of another file')),
  );
  return { bytes, rows: footer.num_rows, rowsInGroups, columns, codecs: [...codecs] };
}

async function checkFooter(path: string, file: FileHandle, expected: Expectation): Promise<void> {
  const found = await describeFooter(path, file);
  expectEqual(path, 'bytes', found.bytes, expected.bytes);
  expectEqual(path, 'rows', found.rows, expected.rows);
  expectEqual(path, 'rows in row groups', found.rowsInGroups, expected.rows);
  expectEqual(path, 'columns', found.columns.join(), expected.columns.join());
  // A file without rows has no column chunks, so it has no codec.
  expectEqual(path, 'codecs', found.codecs.join(), expected.rows === 0n ? '' : ZSTD);
}

/** The number of bytes to read from the end of a file at first. Most footers are shorter. */
const FOOTER_BYTES = 1 << 15;

async function readFooter(path: string, file: FileHandle, size: number): Promise<FileMetaData> {
  const read = async (offset: number, length: number) => {
    const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset);
    if (bytesRead !== length) throw new Error(`read ${bytesRead} of ${length} bytes at ${offset}`);
    return buffer;
  };
  const tail = {
    byteLength: size,
    slice: async (start: number, end = size) => (await read(start, end - start)).buffer,
  };
  try {
    const magic = Buffer.from(await read(0, 4)).toString('latin1');
    if (magic !== 'PAR1') throw new Error("it doesn't start like a Parquet file");
    return await parquetMetadataAsync(tail, { initialFetchSize: FOOTER_BYTES, geoparquet: false });
  } catch (cause) {
    throw new PricelakeError('lake_invalid', `${path}: can't read the file's footer`, {}, { cause });
  }
}

/** Counts the elements of the schema's subtree that starts at `index`. A schema is a list in depth-first order. */
function countElements(schema: FileMetaData['schema'], index: number): number {
  let count = 1;
  for (let child = 0; child < (schema[index]?.num_children ?? 0); child += 1) {
    count += countElements(schema, index + count);
  }
  return count;
}

function expectEqual<T>(path: string, what: string, found: T, expected: T): void {
  if (found === expected) return;
  throw new PricelakeError(
    'lake_invalid',
    `${path}: the footer records ${what} ${found}, but the writer reported ${expected}`,
    { hint: 'Check the disk, then run the same command again.' },
  );
}

export function hashFile(path: string): Promise<string> {
  return withFile(path, 'r', hashBytes);
}

async function hashBytes(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES }), hash);
  return hash.digest('hex');
}
