import { CsvScanner } from '../formats/csv.js';
import { isBlank } from '../formats/ndjson.js';
import { PricelakeError } from '../io/errors.js';

/** The format of an export (API §4, /export). */
export type ExportFormat = 'ndjson' | 'csv';

/** Counts the rows in a stream of bytes, and finds the positions at which the stream can be split into files. */
export interface RowScanner {
  /** Returns the number of rows that end in the chunk, and the offset after the last of these rows, or 0. */
  scan(chunk: Buffer): { rows: number; end: number };
  /** Returns 1 if the last row has no line break, otherwise 0. */
  finish(): number;
  /** The number of bytes since the last line or record ended. */
  readonly openBytes: number;
  /** The header with which every file after the first one must start. */
  readonly header: Buffer;
}

export function createRowScanner(format: ExportFormat): RowScanner {
  return format === 'csv' ? new CsvRows() : new Lines();
}

const NEWLINE = 0x0a;

/** Scans NDJSON. Each line that isn't blank is a row. */
class Lines implements RowScanner {
  readonly header = Buffer.alloc(0);
  #lineBytes = 0;
  #isBlank = true;

  get openBytes(): number {
    return this.#lineBytes;
  }

  scan(chunk: Buffer): { rows: number; end: number } {
    let rows = 0;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#extendLine(chunk, start, end);
      rows += this.finish();
      this.#lineBytes = 0;
      start = end + 1;
    }
    this.#extendLine(chunk, start, chunk.length);
    return { rows, end: start };
  }

  finish(): number {
    const rows = this.#isBlank ? 0 : 1;
    this.#isBlank = true;
    return rows;
  }

  /** Extends the current line, which may have started in an earlier chunk. */
  #extendLine(chunk: Buffer, start: number, end: number): void {
    this.#isBlank &&= isBlank(chunk.subarray(start, end));
    this.#lineBytes += end - start;
  }
}

const DELIMITERS = { ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/**
 * Rejects CSV whose columns aren't separated by commas (RFC 4180), as soon as its header arrives. The service still
 * bills the export, so later runs don't request this format again.
 */
function refuseDelimiter(header: Buffer): void {
  const text = header.toString('utf8', 0, 1000);
  if (text.includes(',')) return;
  const found = Object.entries(DELIMITERS).find(([mark]) => text.includes(mark));
  if (found === undefined) return;
  throw new PricelakeError(
    'contract',
    `/export: the CSV columns are separated by ${found[1]}, but pricelake only reads CSV with commas`,
    { unreadable: 'csv', hint: 'Set source.export to ndjson in the pipeline file. Nothing was published.' },
  );
}

/** Scans CSV. Each record after the header is a row. */
class CsvRows implements RowScanner {
  readonly #scanner = new CsvScanner();
  #pieces: Buffer[] | undefined = [];
  header: Buffer = Buffer.alloc(0);
  openBytes = 0;

  scan(chunk: Buffer): { rows: number; end: number } {
    let rows = 0;
    let last = 0;
    this.openBytes += chunk.length;
    this.#scanner.scan(chunk, (end) => {
      this.openBytes = chunk.length - end;
      if (this.#pieces !== undefined) {
        this.header = Buffer.concat([...this.#pieces, chunk.subarray(0, end)]);
        refuseDelimiter(this.header);
        this.#pieces = undefined;
        return; // a file that contains only the header has no rows
      }
      rows++;
      last = end;
    });
    this.#pieces?.push(Buffer.from(chunk));
    return { rows, end: last };
  }

  finish(): number {
    return this.#scanner.isOpen && this.#pieces === undefined ? 1 : 0;
  }
}
