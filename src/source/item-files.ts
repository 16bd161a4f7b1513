import path from 'node:path';
import { isHydrationExport } from '../journal/exports.js';
import type { PageEntry, PageKind } from '../journal/item-pages.js';
import type { Landing } from '../journal/landings.js';
import { cutTail, RowFile, type RowMark, type RowSlice } from './row-file.js';

/** A file is closed at this size, so that it can be typed while the next one lands. */
const FILE_BYTES = 48 * 1024 * 1024;

/** A closed file of items read whole. */
export interface ItemFile {
  path: string;
  rows: number;
  bytes: number;
  /** When its last item was read, ISO 8601. */
  readAt: string;
}

/** Files that the journal names, in order. */
export function listItemFiles({ folder, journal }: Landing, kind: PageKind): ItemFile[] {
  return [...journal.state.pages[kind].files].map(([file, page]) => ({ path: path.join(folder, file), ...page }));
}

/** Cuts off what a killed process had written behind the last row that the journal names. */
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
    // A file that an earlier process may have left open is not gone on with.
    this.#number = landing.journal.state.pages[kind].files.size;
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
