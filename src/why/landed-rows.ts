import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { findField } from '../formats/json-scan.js';
import { readWholeLines } from '../formats/ndjson.js';
import { findRowId, readCellId } from '../formats/row-id.js';
import { type LandedRun, listSoundRuns } from '../journal/landings.js';
import { findItemPath, isItemId } from '../tables/item-names.js';
import { ignoreMissing } from '../tables/layout.js';

/** A row of a landed file that names an item. */
export interface LandedRow {
  runId: string;
  runNumber: bigint;
  /** Path in the lake's folder. */
  file: string;
  /** From 1. */
  line: number;
  /** A whole row of the item, or a change of it. */
  kind: 'read' | 'change';
  /** When its file was read, ISO 8601; undefined where the journal does not say. */
  readAt: string | undefined;
  text: string;
  /** The raw text of a value, by the names of the API document; undefined if the row has none. */
  raw(path: string): string | undefined;
}

/** Rows of an item in the landings that are kept, in the order of runs, and runs whose landing can't be used. */
export interface LandedRows {
  rows: LandedRow[];
  /** Ids of runs whose landing was looked through. */
  kept: ReadonlySet<string>;
  damaged: string[];
}

const NEWLINE = 0x0a;
/** Products have ids of their own. */
const isOfItems = (name: string) => /\.(?:ndjson|csv)$/u.test(name) && !/^(?:journal|products)\b/u.test(name);

/** `published` is the number of the newest run. */
export async function findLandedRows(
  lakeRoot: string,
  published: bigint,
  itemId: bigint,
  signal: AbortSignal,
): Promise<LandedRows> {
  const { runs, damaged } = await listSoundRuns(lakeRoot, published);
  const rows: LandedRow[] = [];
  for (const run of runs) {
    const names = (await readdir(run.folder)).filter(isOfItems).sort();
    for (const name of names) {
      const read = name.endsWith('.csv') ? searchRecords : searchLines;
      const found = await read(join(run.folder, name), String(itemId), signal).catch(ignoreMissing);
      rows.push(...(found ?? []).map((row) => placeRow(row, run, name)));
    }
  }
  return { rows, kept: new Set(runs.map(({ runId }) => runId)), damaged };
}

type FoundRow = Pick<LandedRow, 'line' | 'kind' | 'text' | 'raw'>;

function placeRow(found: FoundRow, { runId, runNumber, state }: LandedRun, name: string): LandedRow {
  const pages = Object.values(state.pages).flatMap(({ files }) => files.get(name) ?? []);
  const attempts = [...state.exports.attempts.values()].flat();
  const exported = attempts.find(({ segments }) => segments.some(({ file }) => file === name));
  const readAt = pages[0]?.readAt ?? exported?.readAt ?? (found.kind === 'change' ? state.feed.done?.at : undefined);
  return { ...found, runId, runNumber, file: `_pricelake/landing/${runId}/${name}`, readAt };
}

const isId = (name: string) => isItemId(name, {});

/** Bytes are compared before a row is parsed: few of them name the item. */
async function searchLines(file: string, id: string, signal: AbortSignal): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  let line = 0;
  for await (const bytes of readWholeLines(file)) {
    signal.throwIfAborted();
    const isNamed = bytes.includes(id);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      line += 1;
      if (isNamed) found.push(...readLine(bytes.subarray(start, end), id, line));
      start = end + 1;
    }
    if (start < bytes.length) found.push(...readLine(bytes.subarray(start), id, line + 1));
  }
  return found;
}

function readLine(bytes: Buffer, id: string, line: number): FoundRow[] {
  if (!bytes.includes(id)) return [];
  const isChange = findRowId(bytes, ['item'], (name) => name === 'id') === id;
  if (!isChange && findRowId(bytes, [], isId) !== id) return [];
  const row = Buffer.from(bytes);
  const raw = isChange ? (path: string) => readChange(row, path) : (path: string) => readItem(row, path);
  return [{ line, kind: isChange ? 'change' : 'read', text: row.toString('utf8'), raw }];
}

const slice = (row: Buffer, found: { start: number; end: number } | undefined) =>
  found && row.toString('utf8', found.start, found.end);

/** `site.name` of a nested object, or of a flat name in any spelling. */
function readItem(row: Buffer, path: string): string | undefined {
  const flat = findField(row, 0, (name) => findItemPath('', name, {}) === path);
  const [parent = '', leaf] = path.split('.');
  if (flat !== undefined || leaf === undefined) return slice(row, flat);
  const outer = findField(row, 0, (name) => findItemPath('', name, {}) === parent);
  if (outer === undefined || row[outer.start] !== '{'.charCodeAt(0)) return undefined;
  return slice(
    row,
    findField(row, outer.start, (name) => findItemPath(parent, name, {}) === path),
  );
}

/** `item.title` of a change, or `changes.title`. */
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

async function searchRecords(file: string, id: string, signal: AbortSignal): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  let columns: readonly string[] | undefined;
  for await (const { bytes, line } of readCsvRecords(file)) {
    signal.throwIfAborted();
    if (columns !== undefined && !bytes.includes(id)) continue;
    const text = bytes.toString('utf8');
    const cells = parseCsvRecord(text) ?? [];
    const names = columns ?? cells.map(String);
    if (columns === undefined) columns = names;
    else if (readCellId(cells, names, isId) === id) {
      const raw = (path: string) => cells[names.findIndex((name) => findItemPath('', name, {}) === path)] ?? undefined;
      found.push({ line, kind: 'read', text, raw });
    }
  }
  return found;
}
