import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { type CsvFacts, parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { isTooDeep } from '../formats/json-scan.js';
import { readWholeLines } from '../formats/ndjson.js';
import { LIMITS } from '../io/limits.js';
import { isParent, type Mapping } from '../tables/item-names.js';
import type { LandedFile } from './landed.js';
import { findLongNumbers, NumberQuoter } from './long-numbers.js';
import { type ObservedFields, observeRow } from './shape.js';

const NEWLINE = 0x0a;
/** If the total size of the files is at most this, all their rows are observed. */
const WHOLE_BYTES = 8 * 1024 * 1024;
const HEAD_BYTES = 1024 * 1024;
const STEP_BYTES = 1024 * 1024;
const SAMPLE_BYTES = 16 * 1024;

/**
 * Parses all rows of small files. If files are large, parses the first megabyte of the first file, and short samples of
 * the rest. All files must have the same origin. For a line that isn't JSON, calls `onRow` with undefined. Typing
 * reports this line later.
 */
export async function observeRows(files: readonly { path: string }[], onRow: (row: unknown) => void): Promise<void> {
  for await (const lines of readSamples(files.map(({ path }) => path))) {
    for (const line of lines.split('\n')) onRow(parseOrNothing(line));
  }
}

/** Parses a line, or returns undefined if it isn't JSON. JSON.parse may round numbers, which doesn't matter here. */
function parseOrNothing(line: string): unknown {
  try {
    // Skips a deeply nested row, because the functions that observe rows are recursive.
    return isTooDeep(line) ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function* readSamples(paths: readonly string[]): AsyncGenerator<string> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const isSmall = sizes.reduce((sum, size) => sum + size, 0) <= WHOLE_BYTES;
  for (const [index, path] of paths.entries()) {
    if (isSmall) yield readFile(path, 'utf8');
    else yield* readSome(path, sizes[index] as number, index === 0 ? HEAD_BYTES : SAMPLE_BYTES);
  }
}

async function* readSome(path: string, size: number, headBytes: number): AsyncGenerator<string> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(headBytes);
    const { bytesRead } = await file.read(head, 0, headBytes, 0);
    yield wholeLines(head.subarray(0, bytesRead), 0);
    const sample = Buffer.alloc(SAMPLE_BYTES);
    for (let at = HEAD_BYTES; at < size; at += STEP_BYTES) {
      const { bytesRead } = await file.read(sample, 0, SAMPLE_BYTES, at);
      yield wholeLines(sample.subarray(0, bytesRead), sample.indexOf(NEWLINE) + 1);
    }
  } finally {
    await file.close();
  }
}

function wholeLines(bytes: Buffer, start: number): string {
  return bytes.toString('utf8', start, Math.max(start, bytes.lastIndexOf(NEWLINE)));
}

const SAMPLE_RECORDS = 200;

export interface Look {
  observed: ObservedFields;
  mapping: Mapping;
  show: (row: unknown, format?: 'csv') => void;
}

/** Observes the first 200 records of a CSV file, and more until each column that may hold objects has had a value. */
export async function observeCsv(file: string, { observed, mapping, show }: Look): Promise<CsvFacts> {
  const quotesNulls = await findQuotedNulls(file);
  let columns: string[] | undefined;
  let holders = new Set<string>();
  let open = new Set<string>();
  let records = 0;
  for await (const { bytes } of readCsvRecords(file)) {
    const cells = parseCsvRecord(bytes.toString('utf8'), quotesNulls);
    if (columns === undefined) {
      columns = nameColumns(cells ?? []);
      observeRow(observed, Object.fromEntries(columns.map((name) => [name, null])), mapping);
      holders = new Set(columns.filter((name) => isParent(name, mapping)));
      open = new Set(holders);
      continue;
    }
    if (cells?.length === columns.length) {
      const row = readRow(columns, cells, holders);
      observeRow(observed, row, mapping);
      show(row, 'csv');
      for (const [index, name] of columns.entries()) if (cells[index] !== null) open.delete(name);
    }
    if (++records >= SAMPLE_RECORDS && open.size === 0) break;
  }
  return { columns: columns ?? [], quotesNulls };
}

/**
 * True if all empty cells in the first records are quoted. Some of these cells must be nulls, because no item has a
 * value in every column. So the writer also quotes nulls.
 */
async function findQuotedNulls(file: string): Promise<boolean> {
  let isQuoted = false;
  let records = 0;
  for await (const { bytes } of readCsvRecords(file)) {
    const cells = parseCsvRecord(bytes.toString('utf8')) ?? [];
    if (cells.includes(null)) return false;
    isQuoted ||= cells.includes('');
    if (++records > SAMPLE_RECORDS) break;
  }
  return isQuoted;
}

/** Makes the names of columns unique. A column without a name gets its position as its name. */
function nameColumns(header: readonly (string | null)[]): string[] {
  const taken = new Set<string>();
  return header.map((cell, index) => {
    const own = cell === null || cell === '' ? `column_${index + 1}` : cell.replaceAll('\0', '');
    let name = own;
    for (let n = 2; taken.has(name); n++) name = `${own}_${n}`;
    taken.add(name);
    return name;
  });
}

/** Builds an object from the cells of a record. @param holders columns whose cells may contain objects as JSON text */
function readRow(columns: readonly string[], cells: readonly (string | null)[], holders: ReadonlySet<string>) {
  return Object.fromEntries(
    columns.map((name, index): [string, unknown] => {
      const cell = cells[index] ?? null;
      return [name, cell !== null && holders.has(name) ? (readObject(cell) ?? cell) : cell];
    }),
  );
}

/** Parses a cell that contains a JSON object. Returns undefined if it contains something else. */
function readObject(cell: string): object | undefined {
  if (!cell.startsWith('{')) return undefined;
  try {
    return JSON.parse(cell) as object;
  } catch {
    return undefined;
  }
}

export function isCsv(file: string): boolean {
  return path.extname(file) === '.csv';
}

/** Returns the file, or a copy with quoted numbers if DuckDB would round a number in it. */
export async function quoteFile(source: string, readAt: string, workFolder: string): Promise<LandedFile> {
  const part = path.basename(source);
  const target = path.join(workFolder, `${part}.quoted`);
  let out: Awaited<ReturnType<typeof open>> | undefined;
  let copied = 0;
  let hasTooLarge = false;
  const quoter = new NumberQuoter();
  try {
    for await (const lines of readWholeLines(source)) {
      // Checks only the chunk's first line, because a line that exceeds the size limit always starts a chunk.
      hasTooLarge ||= lines.length > LIMITS.rowBytes && !lines.subarray(0, LIMITS.rowBytes + 1).includes(NEWLINE);
      const tokens = findLongNumbers(lines);
      if (tokens.length > 0 && out === undefined) {
        out = await open(target, 'w');
        if (copied > 0) {
          for await (const before of createReadStream(source, { end: copied - 1 }))
            await out.writeFile(before as Buffer);
        }
      }
      if (out !== undefined) await out.writeFile(quoter.quote(lines, tokens));
      copied += lines.length;
    }
  } finally {
    await out?.close();
  }
  const marked = out !== undefined;
  return { path: marked ? target : source, layout: 'lines', marked, hasTooLarge, part, readAt };
}
