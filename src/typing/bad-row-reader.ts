import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { parse } from 'lossless-json';
import { type CsvFacts, parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { isTooDeep } from '../formats/json-scan.js';
import { isBlank, readLines } from '../formats/ndjson.js';
import { type FitId, findRowId, readCellId } from '../formats/row-id.js';
import { LIMITS } from '../io/limits.js';
import { CHANGE_FIELDS, structPaths } from './landed.js';
import { NUMBER_MARK } from './long-numbers.js';
import { nameColumn } from './shape.js';

const SAFE_LENGTH = 15;
/** The number of characters of raw text that a good row keeps if its line would otherwise exceed the size limit. */
const FEW_CHARACTERS = 1000;

export interface CsvColumns extends Readonly<CsvFacts> {
  /** The columns of a CSV file whose cells contain objects as JSON text. */
  objects: ReadonlySet<string>;
}

export interface BadRowTask {
  /** The downloaded file. It has one JSON row per line, or is a CSV file if `csv` is set. */
  path: string;
  fields: Map<string, string>;
  csv?: CsvColumns;
  fitId: FitId;
  goodPath: string;
  badPath: string;
  /** Called before each row. May throw an error to stop the work. */
  onRow?: () => void;
}

/**
 * Reads a file row by row, after DuckDB has failed to read it as a whole. Writes each row that can't be typed to
 * `badPath`, with its position, raw text and reason, and all other rows to `goodPath`. Counts good and bad rows.
 */
export async function separateBadRows(task: BadRowTask): Promise<{ good: number; bad: number }> {
  const good = createWriteStream(task.goodPath);
  const bad = createWriteStream(task.badPath);
  const written = Promise.all([finished(good), finished(bad)]);
  written.catch(() => {}); // `await written` below throws this error, for example if the disk becomes full
  const counts = { good: 0, bad: 0 };
  const structs = structPaths(task.fields);
  try {
    for await (const row of readRows(task)) {
      if (good.destroyed || bad.destroyed) break;
      task.onRow?.();
      const { line, isGood } = wrapRow(
        row,
        (value) => findMismatch(value, structs, task.fields),
        () => readRowId(row, task),
      );
      counts[isGood ? 'good' : 'bad']++;
      const stream = isGood ? good : bad;
      if (!stream.write(line)) await once(stream, 'drain');
    }
  } finally {
    good.end();
    bad.end();
  }
  await written;
  return counts;
}

/** Builds the line that DuckDB will read. A row that exceeds DuckDB's size limit for JSON objects counts as bad. */
function wrapRow(
  row: RawRow,
  findFault: (value: unknown) => string | undefined,
  readId: () => string | null,
): { line: string; isGood: boolean } {
  const value = JSON.stringify(row.value) ?? 'null';
  const reason = row.reason ?? findFault(row.value) ?? findHalfCharacter(value);
  const wrap = (last: string, characters = LIMITS.rawCharacters) =>
    `${JSON.stringify({ n: row.place, raw: shortenRaw(row.raw, characters) }).slice(0, -1)},${last}}\n`;
  // A parser's message may quote a lone surrogate, which DuckDB can't read. Buffer.from replaces it with U+FFFD.
  const refuse = (why: string) => ({
    line: wrap(`"reason":${JSON.stringify(Buffer.from(why).toString())},"id":${JSON.stringify(readId())}`),
    isGood: false,
  });
  if (reason !== undefined) return refuse(reason);
  for (const characters of [LIMITS.rawCharacters, FEW_CHARACTERS]) {
    const line = wrap(`"row":${value}`, characters);
    if (Buffer.byteLength(line) <= LIMITS.rowBytes) return { line, isGood: true };
  }
  return refuse(describeSize(Buffer.byteLength(row.raw)));
}

/** Truncates a long text, and appends its full size in bytes. The downloaded file still contains the whole text. */
function shortenRaw(raw: string, characters: number): string {
  if (raw.length <= characters) return raw;
  // If the cut splits a surrogate pair, Buffer.from replaces the remaining half with U+FFFD.
  const start = Buffer.from(raw.slice(0, characters)).toString();
  return `${start}… (${Buffer.byteLength(raw)} bytes in all)`;
}

function describeSize(bytes: number): string {
  return `the row has ${bytes} bytes, but the limit is ${LIMITS.rowBytes}`;
}

interface RawRow {
  place: number;
  raw: string;
  value?: unknown;
  reason?: string;
}

async function* readRows(task: BadRowTask): AsyncGenerator<RawRow> {
  if (task.csv !== undefined) {
    yield* readCsvRows(task.path, task.csv);
    return;
  }
  let place = 0;
  for await (const bytes of readLines(task.path)) {
    place++;
    if (isBlank(bytes)) continue;
    const raw = bytes.toString('utf8');
    yield { place, raw, ...parseRow(bytes, raw, parseLine) };
  }
}

/** Yields the records after the header, as objects that map the columns' names to the cells' text. */
async function* readCsvRows(path: string, csv: CsvColumns): AsyncGenerator<RawRow> {
  let isHeader = true;
  for await (const { bytes, line } of readCsvRecords(path)) {
    const raw = bytes.toString('utf8');
    if (!isHeader) yield { place: line, raw, ...parseRow(bytes, raw, (text) => parseCsvRow(text, csv)) };
    isHeader = false;
  }
}

type Parsed = Pick<RawRow, 'value' | 'reason'>;

function parseRow(bytes: Buffer, text: string, parseText: (text: string) => Parsed): Parsed {
  if (bytes.length > LIMITS.rowBytes) return { reason: describeSize(bytes.length) };
  return isUtf8(bytes) ? parseText(text) : { reason: 'not valid UTF-8' };
}

function parseCsvRow(text: string, { columns, quotesNulls, objects }: CsvColumns): Parsed {
  const cells = parseCsvRecord(text, quotesNulls);
  if (cells === undefined) return { reason: 'not valid CSV: it has a misplaced quote' };
  if (cells.length !== columns.length) return { reason: `${cells.length} cells, but the header has ${columns.length}` };
  const value = Object.fromEntries(columns.map((name, index) => [nameColumn(name), cells[index] ?? null]));
  for (const name of objects) {
    const column = nameColumn(name);
    const cell = value[column] ?? null;
    if (cell === null) continue;
    const parsed = parseLine(cell);
    if (parsed.reason === TOO_DEEP) return parsed;
    if (parsed.reason !== undefined || !cell.startsWith('{')) return { reason: `${name} is not a JSON object` };
    value[column] = JSON.stringify(parsed.value) ?? null;
  }
  return { value };
}

/** Returns the item's id in a bad row as digits, or null if the id can't be found reliably. */
function readRowId({ raw }: RawRow, { fields, csv, fitId }: BadRowTask): string | null {
  if (csv !== undefined) return readCellId(parseCsvRecord(raw) ?? [], csv.columns, fitId);
  return findRowId(Buffer.from(raw), fields === CHANGE_FIELDS ? ['item'] : [], fitId);
}

/** Parses JSON. All numbers except short integers become strings that start with NUMBER_MARK. Never throws. */
function parseLine(text: string): Parsed {
  if (isTooDeep(text)) return { reason: TOO_DEEP };
  try {
    return { value: parse(text, undefined, { parseNumber: keepNumber }) };
  } catch (error) {
    return { reason: `not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Formats a short number as DuckDB does, so that both readers return the same text. Doesn't change a long number. */
function keepNumber(token: string): number | string {
  if (/^-?\d+$/.test(token) && token.length <= SAFE_LENGTH) return Number(token);
  return `${NUMBER_MARK}${token.length <= SAFE_LENGTH ? printDouble(token) : token}`;
}

function printDouble(token: string): string {
  const value = Number(token);
  // Keeps the text of a number that is too large or too small for a double.
  if (!Number.isFinite(value) || (value === 0 && /[1-9]/.test(token.replace(/[eE].*/, '')))) return token;
  const text = Object.is(value, -0) ? '-0' : String(value).replace('e+', 'e');
  return /[.e]/.test(text) ? text : `${text}.0`;
}

const TOO_DEEP = `nested more than ${LIMITS.jsonDepth} levels deep`;

/** Matches a lone surrogate, as JSON.stringify escapes it. A column can't store one, because its text is UTF-8. */
const HALF_CHARACTER = /(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/;

function findHalfCharacter(json: string): string | undefined {
  return HALF_CHARACTER.test(json) ? 'not valid Unicode: it has a lone surrogate' : undefined;
}

function findMismatch(value: unknown, structs: string[], fields: Map<string, string>): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not a JSON object';
  const row = value as Record<string, unknown>;
  for (const path of structs) {
    const field = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], row);
    if (field !== undefined && field !== null && (typeof field !== 'object' || Array.isArray(field))) {
      return `${path} is not an object`;
    }
  }
  const { datasets } = row;
  const isList = fields.get('datasets') === 'VARCHAR[]';
  if (isList && datasets !== undefined && datasets !== null && !Array.isArray(datasets))
    return 'datasets is not a list';
  return undefined;
}
