import { createHash } from 'node:crypto';
import { type FileHandle, open, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Slice } from '../formats/json-scan.js';
import { syncFolder } from '../io/durable.js';
import { hasSystemCode, PricelakeError } from '../io/errors.js';

const NEWLINE = 0x0a;
const SPACE = 0x20;

/** The end and the checksum of downloaded rows, for the journal. */
export interface RowMark {
  end: number;
  sha256: string;
}

interface RowJournal<Entry> {
  append(...entries: Entry[]): Promise<void>;
  readonly advice: string;
}

/**
 * A file of downloaded rows, with one JSON object per line. Opening the file removes everything after the last
 * journaled row. Rows are synced and journaled while the next page is downloaded.
 */
export class RowFile<Entry> {
  readonly #file: FileHandle;
  readonly #folder: string;
  /** True once the file's folder is synced, so that the file's name survives a power failure. */
  #isNamed = false;
  readonly #journal: RowJournal<Entry>;
  #end: number;
  #waiting: Entry[] = [];
  #saving: Promise<void> | undefined;
  #error: unknown;

  private constructor(file: FileHandle, folder: string, journal: RowJournal<Entry>, end: number) {
    this.#file = file;
    this.#folder = folder;
    this.#journal = journal;
    this.#end = end;
  }

  static async open<Entry>(path: string, journal: RowJournal<Entry>, end: number): Promise<RowFile<Entry>> {
    await cutTail(path, end, journal);
    return new RowFile(await open(path, 'a+'), dirname(path), journal, end);
  }

  /** Appends rows. They are journaled after they are synced. Returns the end of the file. Calls must not overlap. */
  async land(body: Buffer, rows: readonly Slice[], name: (mark: RowMark) => Entry): Promise<number> {
    if (this.#error !== undefined) throw this.#error;
    const lines = writeLines(body, rows);
    await this.#file.appendFile(lines);
    this.#end += lines.length;
    const sha256 = createHash('sha256').update(lines).digest('hex');
    this.#waiting.push(name({ end: this.#end, sha256 }));
    this.#saving ??= this.#save();
    return this.#end;
  }

  async #save(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const entries = this.#waiting;
        this.#waiting = [];
        await this.#file.datasync();
        if (!this.#isNamed) await syncFolder(this.#folder);
        this.#isNamed = true;
        await this.#journal.append(...entries);
      }
    } catch (error) {
      this.#error = error;
    } finally {
      this.#saving = undefined;
    }
  }

  /** Closes the file. Resolves when all rows are synced and journaled. */
  async close(): Promise<void> {
    await this.#saving;
    await this.#file.close();
    if (this.#error !== undefined) throw this.#error;
  }
}

/**
 * Cuts off a file after its last journaled row, because a killed process may leave more bytes.
 * @throws PricelakeError `lake_invalid` if journaled rows are missing
 */
export async function cutTail(path: string, end: number, { advice: hint }: { advice: string }): Promise<void> {
  const info = await stat(path).catch((error: unknown) => {
    if (!hasSystemCode(error, 'ENOENT')) throw error;
  });
  const size = info?.size ?? 0;
  if (size < end)
    throw new PricelakeError('lake_invalid', `${path} has ${size} bytes, but the journal records ${end}`, { hint });
  if (size > end) await truncate(path, end);
}

/** Converts rows to lines. A line break inside a row must be JSON white space, so it is replaced with a space. */
function writeLines(body: Buffer, rows: readonly Slice[]): Buffer {
  const lines = Buffer.allocUnsafe(rows.reduce((sum, row) => sum + row.end - row.start + 1, 0));
  let at = 0;
  for (const { start, end } of rows) {
    const row = lines.subarray(at, at + body.copy(lines, at, start, end));
    for (let i = row.indexOf(NEWLINE); i >= 0; i = row.indexOf(NEWLINE, i + 1)) row[i] = SPACE;
    at += row.length;
    lines[at++] = NEWLINE;
  }
  return lines;
}
