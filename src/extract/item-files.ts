import path from 'node:path';
import type { Landing } from '../landing/landing.js';
import { cutTail, RowFile, type RowSlice } from '../landing/row-file.js';
import { isExportFile } from './hydrate-export.js';

/** A file is closed at this size, so that it can be typed while the next one lands. */
const FILE_BYTES = 48 * 1024 * 1024;

/** Journal entries that name pages of items: what they were read for. */
export type PageEntry = 'hydrate.page' | 'poll.page' | 'listing.page' | 'sample.page' | 'products.page';

/** A closed file of items read whole. */
export interface ItemFile {
  path: string;
  rows: number;
  bytes: number;
  /** When its last item was read, ISO 8601. */
  readAt: string;
}

/** Files that the journal names, in order. */
export function listItemFiles(landing: Landing, page: PageEntry): ItemFile[] {
  const files = new Map<string, ItemFile>();
  for (const { file, rows, end, readAt } of landing.journal.all(page)) {
    const before = files.get(file)?.rows ?? 0;
    files.set(file, { path: path.join(landing.folder, file), rows: before + rows, bytes: end, readAt });
  }
  return [...files.values()];
}

/** Cuts off what a killed process had written behind the last row that the journal names. */
export async function cutItemTails(landing: Landing, page: PageEntry): Promise<void> {
  const ends = new Map(landing.journal.all(page).map(({ file, end }) => [file, end]));
  // Files of exports are journaled when they are whole; their count leaves out a header that was repeated.
  for (const [file, end] of ends)
    if (!isExportFile({ path: file })) await cutTail(path.join(landing.folder, file), end, landing.journal);
}

/** Lands items read whole, a line each, in files of about FILE_BYTES. One call at a time. */
export class ItemFiles {
  readonly #landing: Landing;
  readonly #page: PageEntry;
  readonly #fileBytes: number;
  #number: number;
  #file: RowFile | undefined;

  constructor(landing: Landing, page: PageEntry, fileBytes = FILE_BYTES) {
    this.#landing = landing;
    this.#page = page;
    this.#fileBytes = fileBytes;
    // A file that an earlier process may have left open is not gone on with.
    this.#number = listItemFiles(landing, page).length;
  }

  /** True when the file is full: it is closed, and the next row begins another. */
  async land(
    body: Buffer,
    slices: RowSlice[],
    entry: { rows: number; readAt: string; dataset?: bigint | undefined; page?: number; calls: number },
  ): Promise<boolean> {
    if (this.#file === undefined) {
      this.#number++;
      const { folder, journal } = this.#landing;
      this.#file = await RowFile.open(path.join(folder, this.#name()), journal, 0);
    }
    const file = this.#name();
    const end = await this.#file.land(body, slices, (end) => ({ type: this.#page, file, ...entry, end }));
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
    return `${this.#page.replace('.page', '')}-${String(this.#number).padStart(5, '0')}.ndjson`;
  }
}
