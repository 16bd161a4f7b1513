import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { NumberColumn } from './number-column.js';

/** The format of a row: `json` for an Item, `flat` for NDJSON exports with other field names, `csv` for CSV exports. */
export type RowFormat = 'json' | 'flat' | 'csv';

const NEWLINE = 10;
const QUOTE = 34;
const COMMA = 44;
const CHUNK = 1 << 20;

/**
 * Rendered rows in an append-only file, one per line. If a row is rendered again, the new line is appended. Responses
 * copy bytes from this file, so rows never become JavaScript objects or strings.
 */
export class RowFile {
  readonly path: string;
  readonly format: RowFormat;
  readonly #fd: number;
  readonly #offsets = new NumberColumn(new Float64Array(1024));
  readonly #lengths = new NumberColumn(new Uint32Array(1024));
  /** The size in bytes, including outdated rows. */
  #size = 0;

  constructor(path: string, format: RowFormat) {
    this.path = path;
    this.format = format;
    this.#fd = openSync(path, 'w+');
  }

  /** Appends the lines of a file that DuckDB wrote, and deletes that file. Line k is the row `rows[k]`. */
  async append(path: string, rows: ArrayLike<number>): Promise<void> {
    let start = this.#size;
    const ends = await this.#copyLines(path);
    if (ends.length !== rows.length) {
      throw new Error(`rendered ${ends.length} lines for ${rows.length} rows`);
    }
    // Nothing below awaits, so that readers see either all of the new rows or none of them.
    for (let k = 0; k < ends.length; k++) {
      const end = ends.values[k] as number;
      this.#offsets.set(rows[k] as number, start);
      this.#lengths.set(rows[k] as number, end - start);
      start = end;
    }
    unlinkSync(path);
  }

  async #copyLines(path: string): Promise<NumberColumn<Float64Array>> {
    const ends = new NumberColumn(new Float64Array(1024));
    const scan = this.format === 'csv' ? scanQuotedLines() : scanLines;
    const source = await open(path);
    try {
      const chunk = Buffer.allocUnsafe(CHUNK * 4);
      for (;;) {
        const { bytesRead } = await source.read(chunk, 0, chunk.length, null);
        if (bytesRead === 0) return ends;
        const bytes = chunk.subarray(0, bytesRead);
        writeSync(this.#fd, bytes, 0, bytesRead, this.#size);
        scan(bytes, this.#size, ends);
        this.#size += bytesRead;
      }
    } finally {
      await source.close();
    }
  }

  /** Returns the number of bytes in the rows, including line endings. */
  byteLength(rows: ArrayLike<number>): number {
    let bytes = 0;
    for (let k = 0; k < rows.length; k++) bytes += this.#lengths.values[rows[k] as number] as number;
    return bytes;
  }

  /** Yields rows in chunks of about a megabyte. */
  *chunks(rows: ArrayLike<number>): Generator<Buffer> {
    for (let first = 0; first < rows.length; ) {
      let last = first;
      let bytes = 0;
      while (last < rows.length && bytes < CHUNK) bytes += this.#lengths.values[rows[last++] as number] as number;
      const chunk = Buffer.allocUnsafe(bytes);
      this.#gather(rows, first, last, chunk, 0);
      yield chunk;
      first = last;
    }
  }

  /** Reads rows as a JSON array between two strings. Doesn't copy the rows one by one. */
  wrap(before: string, rows: ArrayLike<number>, after: string): Buffer {
    const head = Buffer.from(before);
    const tail = Buffer.from(after);
    const bytes = this.byteLength(rows);
    const body = Buffer.allocUnsafe(head.length + Math.max(0, bytes - 1) + tail.length);
    head.copy(body);
    this.#gather(rows, 0, rows.length, body, head.length);
    let end = head.length;
    for (let k = 0; k + 1 < rows.length; k++) {
      end += this.#lengths.values[rows[k] as number] as number;
      body[end - 1] = COMMA;
    }
    // The tail overwrites the line ending of the last row.
    tail.copy(body, head.length + Math.max(0, bytes - 1));
    return body;
  }

  /** Reads one row without its line ending. */
  row(row: number): Buffer {
    const bytes = Buffer.allocUnsafe((this.#lengths.values[row] as number) - 1);
    readSync(this.#fd, bytes, 0, bytes.length, this.#offsets.values[row] as number);
    return bytes;
  }

  /** Copies rows into `target`. Rows that are adjacent in the file are read at once. */
  #gather(rows: ArrayLike<number>, first: number, last: number, target: Buffer, at: number): void {
    const offsets = this.#offsets.values;
    const lengths = this.#lengths.values;
    for (let k = first; k < last; ) {
      const start = offsets[rows[k] as number] as number;
      let end = start;
      while (k < last && offsets[rows[k] as number] === end) end += lengths[rows[k++] as number] as number;
      const room = Math.min(end - start, target.length - at);
      readSync(this.#fd, target, at, room, start);
      at += end - start;
    }
  }

  close(): void {
    closeSync(this.#fd);
    unlinkSync(this.path);
  }
}

type LineScan = (bytes: Buffer, base: number, ends: NumberColumn<Float64Array>) => void;

const scanLines: LineScan = (bytes, base, ends) => {
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(base + at + 1);
};

/** Finds line ends in CSV. A line break inside quotes belongs to the row. */
function scanQuotedLines(): LineScan {
  let quoted = false;
  return (bytes, base, ends) => {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) quoted = !quoted;
      else if (byte === NEWLINE && !quoted) ends.push(base + at + 1);
    }
  };
}
