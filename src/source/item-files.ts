import path, { extname } from 'node:path';
import { parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { findField, readInt64 } from '../formats/json-scan.js';
import { readLines } from '../formats/ndjson.js';
import type { IsId } from '../formats/row-id.js';
import { isHydrationExport } from '../journal/exports.js';
import type { PageEntry, PageKind } from '../journal/item-pages.js';
import type { Landing } from '../journal/landings.js';
import { cutTail, RowFile, type RowMark, type RowSlice } from './row-file.js';

/** A file is closed at this size, so that it can be typed while the next one lands. */
const FILE_BYTES = 48 * 1024 * 1024;

/** A closed, synced file of items read whole: pages, or a segment of an export. */
export interface ItemFile {
  path: string;
  rows: number;
  bytes: number;
  /** When its last page was read or its export was asked for, ISO 8601. */
  readAt: string;
}

/** Files that the journal names, in order. */
export function listItemFiles({ folder, journal }: Landing, kind: PageKind): ItemFile[] {
  return [...journal.state.pages[kind].files].map(([file, page]) => ({ path: path.join(folder, file), ...page }));
}

/** Cuts off bytes that a killed process wrote after the last row that the journal names. */
export async function cutItemTails({ folder, journal }: Landing, kind: PageKind): Promise<void> {
  // Files of exports are journaled when they are whole; their count leaves out a header that was repeated.
  for (const [file, { bytes }] of journal.state.pages[kind].files)
    if (!isHydrationExport(file)) await cutTail(path.join(folder, file), bytes, journal);
}

/** Lands items read whole, a line each, in files of about FILE_BYTES. One call at a time. */
export class ItemFiles {
  readonly #landing: Landing;
  readonly #kind: PageKind;
  readonly #fileBytes: number;
  #number: number;
  #file: RowFile<PageEntry> | undefined;

  constructor(landing: Landing, kind: PageKind, fileBytes = FILE_BYTES) {
    this.#landing = landing;
    this.#kind = kind;
    this.#fileBytes = fileBytes;
    // A new file begins, because an earlier process may have left the last one open.
    this.#number = landing.journal.state.pages[kind].files.size;
  }

  /** Returns true if the file is full and was closed; the next row begins another. */
  async land(
    body: Buffer,
    slices: RowSlice[],
    entry: { rows: number; readAt: string; dataset?: bigint | undefined; page?: number; calls: number },
  ): Promise<boolean> {
    if (this.#file === undefined) {
      this.#number++;
      const { folder, journal } = this.#landing;
      this.#file = await RowFile.open<PageEntry>(path.join(folder, this.#name()), journal, 0);
    }
    const file = this.#name();
    const name = (mark: RowMark): PageEntry => ({ type: `${this.#kind}.page`, file, ...entry, ...mark });
    const end = await this.#file.land(body, slices, name);
    if (end < this.#fileBytes) return false;
    await this.close();
    return true;
  }

  /** All that was landed is durable when it resolves. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #name(): string {
    return `${this.#kind}-${String(this.#number).padStart(5, '0')}.ndjson`;
  }
}

/** Reads the items' ids of a landed file, JSON lines or CSV. Skips blank and damaged rows, which typing rejects. */
export async function* readLandedIds(file: string, isId: IsId): AsyncGenerator<bigint> {
  if (extname(file) === '.csv') yield* readCsvIds(file, isId);
  else
    for await (const line of readLines(file)) {
      const id = readIdOrNothing(line, isId);
      if (id !== undefined) yield id;
    }
}

async function* readCsvIds(file: string, isId: IsId): AsyncGenerator<bigint> {
  let column: number | undefined;
  for await (const { bytes } of readCsvRecords(file)) {
    const cells = parseCsvRecord(bytes.toString('utf8'));
    if (cells === undefined) continue;
    if (column === undefined) column = cells.findIndex((name) => name !== null && isId(name));
    else if (/^-?\d+$/.test(cells[column] ?? '')) yield BigInt(cells[column] as string);
  }
}

function readIdOrNothing(line: Buffer, isId: IsId): bigint | undefined {
  try {
    const slice = findField(line, 0, isId);
    return slice === undefined ? undefined : readInt64(line, slice);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
