import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { findField, findFittingField } from '../formats/json-scan.js';
import { readWholeLines } from '../formats/ndjson.js';
import { type FitId, findFittingColumn, findRowId, isNamedId, readCellId } from '../formats/row-id.js';
import { ignoreMissing } from '../io/errors.js';
import { listSoundRuns } from '../journal/kept-runs.js';
import type { LandedRun } from '../journal/landings.js';
import { type Fit, fitName, type Mapping } from '../tables/item-names.js';

/** A row of a downloaded file. It contains an item or a change of an item. */
export interface LandedRow {
  itemId: bigint;
  runId: string;
  runNumber: bigint;
  /** The file's path within the lake's folder. */
  file: string;
  /** The number of the line, counted from 1. */
  line: number;
  /** `read` for a complete row of the item, `change` for a change of the item. */
  kind: 'read' | 'change';
  /** The time at which the file was downloaded (ISO 8601); undefined if the journal doesn't record it. */
  readAt: string | undefined;
  text: string;
  /** Returns the text of a field as downloaded, by its API name; undefined if the row doesn't have the field. */
  raw(path: string): string | undefined;
  /** Returns a field's value: the content of a JSON string or CSV cell; null if the row doesn't have the field. */
  says(path: string): string | null;
}

/** The downloaded rows of items, oldest run first, and the runs whose files can't be used. */
export interface LandedRows {
  rows: LandedRow[];
  /** The ids of the runs whose files were searched. */
  kept: ReadonlySet<string>;
  damaged: string[];
}

export interface RowSearch {
  ids: readonly bigint[];
  /** Maps columns of export rows to fields of Item (`source.mapping`). */
  mapping: Mapping;
  signal: AbortSignal;
}

const NEWLINE = 0x0a;
/** True for a file with items or changes. Products have other ids, so their files are skipped. */
const isOfItems = (name: string) => /\.(?:ndjson|csv)$/u.test(name) && !/^(?:journal|products)\b/u.test(name);

/** Finds the downloaded rows of items. @param published the number of the newest run */
export async function findLandedRows(
  lakeRoot: string,
  published: bigint,
  { ids, mapping, signal }: RowSearch,
): Promise<LandedRows> {
  const { runs, damaged } = await listSoundRuns(lakeRoot, published);
  const rows: LandedRow[] = [];
  const wanted = ids.map(String);
  for (const run of runs) {
    const names = (await readdir(run.folder)).filter(isOfItems).sort();
    for (const name of names) {
      const read = name.endsWith('.csv') ? searchRecords : searchLines;
      const search = { ids: wanted, reader: readNames(isExport(run, name) ? mapping : {}), signal };
      const found = await read(join(run.folder, name), search).catch(ignoreMissing);
      rows.push(...(found ?? []).map((row) => placeRow(row, run, name)));
    }
  }
  return { rows, kept: new Set(runs.map(({ runId }) => runId)), damaged };
}

type FoundRow = Pick<LandedRow, 'itemId' | 'line' | 'kind' | 'text' | 'raw' | 'says'>;

interface FileSearch {
  ids: readonly string[];
  reader: NameReader;
  signal: AbortSignal;
}

/** Matches the names of fields in a file with names in the API document. */
interface NameReader {
  fitId: FitId;
  /** Returns how well a field matches an API path. @param parent the object that contains the field */
  fitOf(path: string, name: string, parent?: string): Fit;
}

const readNames = (mapping: Mapping): NameReader => ({
  fitId: (name) => fitName('id', name, mapping),
  fitOf: (path, name, parent) => fitName(path, name, mapping, parent),
});

const findExport = ({ state }: LandedRun, name: string) =>
  [...state.exports.attempts.values()].flat().find(({ segments }) => segments.some(({ file }) => file === name));

/** True if the file belongs to an export. `source.mapping` applies only to files of exports. */
const isExport = (run: LandedRun, name: string): boolean => findExport(run, name) !== undefined;

function placeRow(found: FoundRow, run: LandedRun, name: string): LandedRow {
  const { runId, runNumber, state } = run;
  const pages = Object.values(state.pages).flatMap(({ files }) => files.get(name) ?? []);
  const feedReadAt = found.kind === 'change' ? state.feed.done?.at : undefined;
  const readAt = pages[0]?.readAt ?? findExport(run, name)?.readAt ?? feedReadAt;
  return { ...found, runId, runNumber, file: `_pricelake/landing/${runId}/${name}`, readAt };
}

/** Searches a file of JSON lines. Parses only rows that contain a wanted id, because most rows are of other items. */
async function searchLines(file: string, search: FileSearch): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  let line = 0;
  for await (const bytes of readWholeLines(file)) {
    search.signal.throwIfAborted();
    const named = search.ids.filter((id) => bytes.includes(id));
    const read = (row: Buffer, at: number) => {
      if (named.some((id) => row.includes(id))) found.push(...readLine(row, at, { ...search, ids: named }));
    };
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      line += 1;
      read(bytes.subarray(start, end), line);
      start = end + 1;
    }
    if (start < bytes.length) read(bytes.subarray(start), line + 1);
  }
  return found;
}

function readLine(bytes: Buffer, line: number, { ids, reader }: FileSearch): FoundRow[] {
  const ofChange = findRowId(bytes, ['item'], isNamedId);
  const id = ofChange ?? findRowId(bytes, [], reader.fitId);
  if (id === null || !ids.includes(id)) return [];
  const row = Buffer.from(bytes);
  const raw = (path: string) => (ofChange === null ? readItem(row, path, reader) : readChange(row, path));
  const says = (path: string) => readJsonText(raw(path));
  return [
    {
      ...{ itemId: BigInt(id), line, text: row.toString('utf8'), raw, says },
      kind: ofChange === null ? 'read' : 'change',
    },
  ];
}

/** Returns the content of a JSON string, and any other JSON as text. Returns null for null and for a missing field. */
function readJsonText(raw: string | undefined): string | null {
  if (raw === undefined || raw === 'null') return null;
  if (!raw.startsWith('"')) return raw;
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw;
  }
}

const slice = (row: Buffer, found: { start: number; end: number } | undefined) =>
  found && row.toString('utf8', found.start, found.end);

/** Reads a field such as `site.name`, from a flat field in any spelling or from a nested object. */
function readItem(row: Buffer, path: string, { fitOf }: NameReader): string | undefined {
  const flat = findFittingField(row, 0, (name) => fitOf(path, name));
  const [parent = '', leaf] = path.split('.');
  if (flat !== undefined || leaf === undefined) return slice(row, flat);
  const outer = findFittingField(row, 0, (name) => fitOf(parent, name));
  if (outer === undefined || row[outer.start] !== '{'.charCodeAt(0)) return undefined;
  return slice(
    row,
    findFittingField(row, outer.start, (name) => fitOf(path, name, parent)),
  );
}

/** Reads a field of a change, such as `item.title` or `changes.title`. */
function readChange(row: Buffer, path: string): string | undefined {
  let at = 0;
  const names = path.split('.');
  for (const [depth, wanted] of names.entries()) {
    if (row[at] !== '{'.charCodeAt(0)) return undefined;
    const found = findField(row, at, (name) => name === wanted);
    if (found === undefined || depth === names.length - 1) return slice(row, found);
    at = found.start;
  }
  return undefined;
}

async function searchRecords(file: string, { ids, reader, signal }: FileSearch): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  let columns: readonly string[] | undefined;
  for await (const { bytes, line } of readCsvRecords(file)) {
    signal.throwIfAborted();
    if (columns !== undefined && !ids.some((id) => bytes.includes(id))) continue;
    const text = bytes.toString('utf8');
    const cells = parseCsvRecord(text) ?? [];
    if (columns === undefined) {
      columns = cells.map(String);
      continue;
    }
    const names = columns;
    const id = readCellId(cells, names, reader.fitId);
    if (id === null || !ids.includes(id)) continue;
    const cell = (path: string) => cells[findFittingColumn(names, (name) => reader.fitOf(path, name))] ?? null;
    const raw = (path: string) => cell(path) ?? undefined;
    found.push({ itemId: BigInt(id), line, kind: 'read', text, raw, says: cell });
  }
  return found;
}
