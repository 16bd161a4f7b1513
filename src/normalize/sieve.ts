import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { parse } from 'lossless-json';
import { parseCsvRecord, readCsvRecords } from '../csv.js';
import { readLines } from '../ndjson.js';
import { structPaths } from './landed.js';
import { NUMBER_MARK } from './long-numbers.js';
import { readObject } from './observe-csv.js';

const SAFE_LENGTH = 15;
/** A row's wrapped line holds it twice; DuckDB reads objects of 16 MB. */
const MAX_ROW_CHARACTERS = 5_000_000;

export interface CsvColumns {
  columns: readonly string[];
  /** Columns whose cells are the JSON text of objects. */
  objects: ReadonlySet<string>;
}

export interface SieveTask {
  /** Landed file, one row a line, or CSV where `csv` is given. */
  path: string;
  fields: Map<string, string>;
  csv?: CsvColumns;
  /** Rows that can be read go here, wrapped: {"n", "raw", "row"}. */
  goodPath: string;
  /** Rows that can't: {"n", "raw", "reason"}. */
  badPath: string;
  /** Called before each row; what it throws ends the work. */
  onRow?: () => void;
}

/**
 * The slow way for a file that the strict reader refused or in which a value did not fit: row by row, with place
 * and raw text, so that what can't be typed is named and the rest is kept. Returns the numbers of good and bad rows.
 */
export async function sieveRows(task: SieveTask): Promise<{ good: number; bad: number }> {
  const good = createWriteStream(task.goodPath);
  const bad = createWriteStream(task.badPath);
  const written = Promise.all([finished(good), finished(bad)]);
  written.catch(() => {}); // reported below: a disk may be full at any row
  const counts = { good: 0, bad: 0 };
  const structs = structPaths(task.fields);
  try {
    for await (const row of readRows(task)) {
      if (good.destroyed || bad.destroyed) break;
      task.onRow?.();
      const value = JSON.stringify(row.value) ?? 'null';
      const reason = row.reason ?? findMismatch(row.value, structs, task.fields) ?? findHalfCharacter(value);
      if (reason === undefined) counts.good++;
      else counts.bad++;
      const stream = reason === undefined ? good : bad;
      const place = JSON.stringify({ n: row.place, raw: row.raw }).slice(0, -1);
      const last = reason === undefined ? `"row":${value}` : `"reason":${JSON.stringify(reason)}`;
      if (!stream.write(`${place},${last}}\n`)) await once(stream, 'drain');
    }
  } finally {
    good.end();
    bad.end();
  }
  await written;
  return counts;
}

interface SievedRow {
  place: number;
  raw: string;
  value?: unknown;
  reason?: string;
}

async function* readRows(task: SieveTask): AsyncGenerator<SievedRow> {
  if (task.csv !== undefined) {
    yield* readCsvRows(task.path, task.csv);
    return;
  }
  let place = 0;
  for await (const bytes of readLines(task.path)) {
    place++;
    const raw = bytes.toString('utf8');
    if (raw.trim() === '') continue;
    yield { place, raw, ...(isUtf8(bytes) ? parseLine(raw) : { reason: 'not valid UTF-8' }) };
  }
}

/** Records behind the header, each as an object of texts by column. */
async function* readCsvRows(path: string, csv: CsvColumns): AsyncGenerator<SievedRow> {
  let isHeader = true;
  for await (const { bytes, line } of readCsvRecords(path)) {
    const raw = bytes.toString('utf8');
    if (!isHeader)
      yield { place: line, raw, ...(isUtf8(bytes) ? parseCsvRow(raw, csv) : { reason: 'not valid UTF-8' }) };
    isHeader = false;
  }
}

function parseCsvRow(text: string, { columns, objects }: CsvColumns): { value?: unknown; reason?: string } {
  if (text.length > MAX_ROW_CHARACTERS) return { reason: `longer than ${MAX_ROW_CHARACTERS} characters` };
  const cells = parseCsvRecord(text);
  if (cells === undefined) return { reason: 'not valid CSV: a quote stands where none may' };
  if (cells.length !== columns.length) return { reason: `${cells.length} cells, the header has ${columns.length}` };
  const value = Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? null]));
  for (const name of objects) {
    const cell = value[name] ?? null;
    if (cell === null) continue;
    if (readObject(cell) === undefined) return { reason: `${name} is not a JSON object` };
    value[name] = JSON.stringify(parse(cell, undefined, { parseNumber: keepNumber })) ?? null;
  }
  return { value };
}

/** Every number whose text a double could change becomes a marked string. Throws nothing: a fault is the reason. */
function parseLine(text: string): { value?: unknown; reason?: string } {
  if (text.length > MAX_ROW_CHARACTERS) return { reason: `longer than ${MAX_ROW_CHARACTERS} characters` };
  try {
    return { value: parse(text, undefined, { parseNumber: keepNumber }) };
  } catch (error) {
    return { reason: `not valid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function keepNumber(token: string): number | string {
  return token.length <= SAFE_LENGTH && !/[eE]/.test(token) ? Number(token) : `${NUMBER_MARK}${token}`;
}

/** What JSON.stringify has to escape is half a character: no UTF-8 text, and so no column, can hold it. */
const HALF_CHARACTER = /(?:^|[^\\])(?:\\\\)*\\ud[89a-f]/;

function findHalfCharacter(json: string): string | undefined {
  return HALF_CHARACTER.test(json) ? 'not valid Unicode: half of a surrogate pair' : undefined;
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
