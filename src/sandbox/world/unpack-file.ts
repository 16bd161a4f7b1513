import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { DuckDBValue } from '@duckdb/node-api';
import { hasSystemCode, PricelakeError } from '../../io/errors.js';
import type { BadLine } from './find-bad-line.js';

interface NdjsonFile {
  /** The path of an NDJSON file, optionally gzipped. */
  file: string;
  row: 'Item' | 'Change';
  hint: string;
  /** Loads the lines, in which long numbers are marked. Returns a description of what is wrong with them, or null. */
  read: (path: string) => Promise<DuckDBValue | undefined>;
  findBadLine: (path: string) => Promise<BadLine | null>;
}

/**
 * Loads a user's file into tables.
 * @throws PricelakeError `usage` if the file can't be read, `config` if a line is invalid; the error names the first one
 */
export async function readNdjson(directory: string, { file, row, hint, read, findBadLine }: NdjsonFile): Promise<void> {
  const path = await unpackFile(directory, file, row);
  const marked = join(directory, 'marked.ndjson');
  let fault: unknown;
  let cause: unknown;
  try {
    await markLongNumbers(path, marked);
    fault = await read(marked);
  } catch (error) {
    cause = error;
    fault = String(error);
  }
  await rm(marked, { force: true });
  if (typeof fault !== 'string') return;
  const bad = await findBadLine(path);
  const message = bad === null ? `${file}: ${fault}` : `${file}, line ${bad.line}: ${bad.reason}`;
  throw new PricelakeError('config', message, { hint, ...(bad === null ? {} : { line: bad.line }) }, { cause });
}

/**
 * Returns the path of the uncompressed file. Detects a damaged gzip file, which DuckDB would read as a shorter file.
 */
async function unpackFile(directory: string, file: string, row: 'Item' | 'Change'): Promise<string> {
  try {
    const source = await open(file);
    const { buffer, bytesRead } = await source.read(Buffer.alloc(2), 0, 2, 0);
    await source.close();
    if (bytesRead < 2 || buffer.readUInt16BE() !== 0x1f8b) return file;
    const path = join(directory, 'data.ndjson');
    await pipeline(createReadStream(file), createGunzip(), createWriteStream(path));
    return path;
  } catch (cause) {
    const isMissing = hasSystemCode(cause, 'ENOENT', 'EISDIR', 'EACCES');
    const reason = isMissing ? "can't read the file" : 'the gzip data is damaged';
    const hint = `Use the path of an NDJSON file, one ${row} per line, plain or gzip.`;
    throw new PricelakeError(isMissing ? 'usage' : 'config', `${file}: ${reason}`, { hint }, { cause });
  }
}

/**
 * Marks numbers that DuckDB's JSON reader could change, because it reads them as a double or an int64. Marked numbers
 * become strings that start with this private-use character.
 */
export const NUMBER_MARK = '\uE0F2';

/** A fraction or an exponent with more characters than this may not fit into a double. */
const SAFE_LENGTH = 15;
const INTEGER = /^-?\d{1,19}$/;
const INT64_MAX = 2n ** 63n - 1n;
const TOKEN_AT_RISK = new RegExp(String.raw`(?<=[:,[\s])-?\d[\d.eE+-]{${SAFE_LENGTH - 1},}(?=[\s,}\]])`, 'g');
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Copies an NDJSON file, and marks each number that a double can't represent exactly. */
async function markLongNumbers(from: string, to: string): Promise<void> {
  await pipeline(
    createReadStream(from, { highWaterMark: 1 << 20 }),
    async function* (chunks: AsyncIterable<Buffer>) {
      let rest = '';
      for await (const chunk of chunks) {
        // latin1 preserves all bytes, and numbers contain only ASCII characters.
        const text = rest + chunk.toString('latin1');
        const end = text.lastIndexOf('\n') + 1;
        rest = text.slice(end);
        if (end > 0) yield Buffer.from(markLines(text.slice(0, end)), 'latin1');
      }
      yield Buffer.from(markLines(`${rest}\n`), 'latin1');
    },
    createWriteStream(to),
  );
}

const MARK_BYTES = Buffer.from(NUMBER_MARK).toString('latin1');

function markLines(text: string): string {
  return text.replace(TOKEN_AT_RISK, (token, at: number) =>
    isInt64(token) || !NUMBER.test(token) || isInString(text, at) ? token : `"${MARK_BYTES}${token}"`,
  );
}

function isInt64(token: string): boolean {
  return INTEGER.test(token) && BigInt(token) <= INT64_MAX && BigInt(token) >= -INT64_MAX;
}

function isInString(text: string, at: number): boolean {
  let isInside = false;
  for (let i = text.lastIndexOf('\n', at) + 1; i < at; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') isInside = !isInside;
  }
  return isInside;
}
