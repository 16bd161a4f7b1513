import path, { extname } from 'node:path';
import pLimit from 'p-limit';
import type { ApiClient } from '../api/client.js';
import { parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { findFittingField, readFields, readInt64, type Slice } from '../formats/json-scan.js';
import { readLines } from '../formats/ndjson.js';
import { type FitId, findFittingColumn } from '../formats/row-id.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { runSideBySide } from '../io/side-by-side.js';
import { isHydrationExport } from '../journal/exports.js';
import type { Landing } from '../journal/landings.js';
import type { PageEntry, PageKind } from '../journal/reads.js';
import type { DatasetPart } from './dataset-client.js';
import { cutTail, RowFile, type RowMark } from './row-file.js';

/** A file of this size is closed, so that its rows can be processed while the next file is downloaded. */
const FILE_BYTES = 48 * 1024 * 1024;

/** A closed and synced file of complete items, from pages or from an export. */
export interface ItemFile {
  path: string;
  rows: number;
  bytes: number;
  /** The time at which the file's last page was read, or at which its export was requested (ISO 8601). */
  readAt: string;
}

/** Lists the journaled item files, in the order in which they were created. */
export function listItemFiles({ folder, journal }: Landing, kind: PageKind): ItemFile[] {
  return [...journal.state.pages[kind].files].map(([file, page]) => ({ path: path.join(folder, file), ...page }));
}

/** Cuts off each item file after its last journaled row, because a killed process may leave more bytes. */
export async function cutItemTails({ folder, journal }: Landing): Promise<void> {
  for (const { files } of Object.values(journal.state.pages)) {
    // Skips export files. They are complete once journaled, and `bytes` doesn't include the header of each CSV file.
    for (const [file, { bytes }] of files)
      if (!isHydrationExport(file)) await cutTail(path.join(folder, file), bytes, journal);
  }
}

/** Writes complete items, one per line, to files of about FILE_BYTES. Calls must not overlap. */
export class ItemFiles {
  readonly #landing: Landing;
  readonly #kind: PageKind;
  readonly #io: Io;
  readonly #fileBytes: number;
  #number: number;
  #file: RowFile<PageEntry> | undefined;

  constructor(landing: Landing, kind: PageKind, io: Io, fileBytes = FILE_BYTES) {
    this.#landing = landing;
    this.#kind = kind;
    this.#io = io;
    this.#fileBytes = fileBytes;
    // The next file gets a new number, because an earlier process may have left the last file incomplete.
    this.#number = landing.journal.state.pages[kind].files.size;
  }

  /** Appends items. Returns true if the file is full and was closed; the next call then starts a new file. */
  async land({ client, dataset }: DatasetPart, body: Buffer, slices: Slice[], page?: number): Promise<boolean> {
    if (slices.length === 0) return false;
    const readAt = this.#io.now().toISOString();
    if (this.#file === undefined) {
      this.#number++;
      const { folder, journal } = this.#landing;
      this.#file = await RowFile.open<PageEntry>(path.join(folder, this.#name()), journal, 0);
    }
    const file = this.#name();
    const entry = { file, rows: slices.length, readAt, dataset, calls: client.calls() };
    const numbered = page === undefined ? entry : { ...entry, page };
    const name = (mark: RowMark): PageEntry => ({ type: `${this.#kind}.page`, ...numbered, ...mark });
    const end = await this.#file.land(body, slices, name);
    if (end < this.#fileBytes) return false;
    await this.close();
    return true;
  }

  /** Closes the current file. Resolves when all items are synced and journaled. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  #name(): string {
    return `${this.#kind}-${String(this.#number).padStart(5, '0')}.ndjson`;
  }
}

/** Yields the ids of the items in a JSON or CSV file. Skips blank and damaged rows. Damaged rows are rejected later. */
export async function* readLandedIds(file: string, fitId: FitId): AsyncGenerator<bigint> {
  if (extname(file) === '.csv') yield* readCsvIds(file, fitId);
  else
    for await (const line of readLines(file)) {
      const id = readIdOrNothing(line, fitId);
      if (id !== undefined) yield id;
    }
}

async function* readCsvIds(file: string, fitId: FitId): AsyncGenerator<bigint> {
  let column: number | undefined;
  for await (const { bytes } of readCsvRecords(file)) {
    const cells = parseCsvRecord(bytes.toString('utf8'));
    if (cells === undefined) continue;
    if (column === undefined) column = findFittingColumn(cells, fitId);
    else if (/^-?\d+$/.test(cells[column] ?? '')) yield BigInt(cells[column] as string);
  }
}

function readIdOrNothing(line: Buffer, fitId: FitId): bigint | undefined {
  try {
    const slice = findFittingField(line, 0, fitId);
    return slice === undefined ? undefined : readInt64(line, slice);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Requests an item and returns its bytes, or undefined if the key can't see the item (API §4, /items/{id}: 404). */
export async function readItem(client: ApiClient, id: bigint): Promise<Buffer | undefined> {
  try {
    const { body } = await client.bytes(`/items/${id}`, {});
    readFields(body);
    return body;
  } catch (error) {
    if (error instanceof PricelakeError && error.code === 'not_found') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    throw new PricelakeError(
      'contract',
      `/items/${id}: the response is not a JSON object: ${error.message}`,
      { hint: 'Check source.baseUrl, and that no proxy rewrites responses.' },
      { cause: error },
    );
  }
}

/** The maximum number of parallel requests. The client separately limits their rate. */
const CONCURRENCY = 4;

/**
 * Requests items one by one (API §4, /items/{id}, which also returns removed items). Journals each item as a page.
 * @param onMissing receives the ids of items that the service doesn't find (404)
 */
export async function landSingleItems(
  part: DatasetPart,
  landing: Landing,
  kind: PageKind,
  itemIds: readonly bigint[],
  io: Io,
  onMissing: (id: bigint) => unknown = () => {},
): Promise<void> {
  const files = new ItemFiles(landing, kind, io);
  const inOrder = pLimit(1);
  try {
    await runSideBySide(CONCURRENCY, itemIds, async (id) => {
      const body = await readItem(part.client, id);
      if (body === undefined) return onMissing(id);
      return inOrder(() => files.land(part, body, [{ start: 0, end: body.length }]));
    });
  } finally {
    await files.close();
  }
}
