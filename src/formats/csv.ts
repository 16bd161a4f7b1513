import { createReadStream } from 'node:fs';
import { BYTE_ORDER_MARK } from './byte-order-mark.js';

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;
const CHUNK_BYTES = 1 << 20;

type State = 'begin' | 'plain' | 'quoted' | 'behind-quote';

/**
 * Finds the ends of CSV records (RFC 4180), chunk by chunk. A line break inside quotes doesn't end a record. Blank
 * lines and a byte-order mark at the start are skipped.
 */
export class CsvScanner {
  #state: State = 'begin';
  #isBlank = true;
  /** The number of bytes of the byte-order mark that were found; its full length once another byte was found. */
  #mark = 0;

  /** Calls `onRecord` for each record that ends in the chunk, with the offset after it. */
  scan(chunk: Buffer, onRecord: (end: number) => void): void {
    let i = this.#skipMark(chunk);
    while (i < chunk.length) {
      if (this.#state === 'quoted') {
        const quote = chunk.indexOf(QUOTE, i);
        if (quote < 0) return;
        this.#state = 'behind-quote';
        i = quote + 1;
        continue;
      }
      const byte = chunk[i++];
      if (byte === NEWLINE) {
        if (!this.#isBlank) onRecord(i);
        this.#state = 'begin';
        this.#isBlank = true;
        continue;
      }
      if (byte === CARRIAGE_RETURN) continue;
      this.#isBlank = false;
      if (byte === COMMA) this.#state = 'begin';
      else if (byte === QUOTE && this.#state !== 'plain') this.#state = 'quoted';
      else this.#state = 'plain';
    }
  }

  /** True if a record has started and its end hasn't been found. */
  get isOpen(): boolean {
    return !this.#isBlank;
  }

  #skipMark(chunk: Buffer): number {
    let i = 0;
    while (i < chunk.length && this.#mark < BYTE_ORDER_MARK.length && chunk[i] === BYTE_ORDER_MARK[this.#mark]) {
      this.#mark++;
      i++;
    }
    if (i < chunk.length) this.#mark = BYTE_ORDER_MARK.length;
    return i;
  }
}

export interface CsvFacts {
  /** The names of the columns, in order. Each name is unique. */
  columns: string[];
  /** True if an empty cell in quotes means null. */
  quotesNulls: boolean;
}

/** A CSV record. `line` is the number of the line, counted from 1, at which the record starts. */
interface CsvRecord {
  bytes: Buffer;
  line: number;
}

/** Reads a file's records, without line endings or a byte-order mark. */
export async function* readCsvRecords(path: string): AsyncGenerator<CsvRecord> {
  const scanner = new CsvScanner();
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  const cut = (record: Buffer): CsvRecord => {
    const begin = skipBlank(record);
    const text = record.subarray(begin.offset);
    const at = line + begin.lines;
    line = at + countNewlines(text);
    return { bytes: trimEnd(text), line: at };
  };
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const ends: number[] = [];
    scanner.scan(chunk, (end) => ends.push(end + rest.length));
    let start = 0;
    for (const end of ends) {
      yield cut(bytes.subarray(start, end));
      start = end;
    }
    rest = bytes.subarray(start);
  }
  if (scanner.isOpen) yield cut(rest);
}

function skipBlank(bytes: Buffer): { offset: number; lines: number } {
  let offset = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? BYTE_ORDER_MARK.length : 0;
  let lines = 0;
  while (bytes[offset] === NEWLINE || (bytes[offset] === CARRIAGE_RETURN && bytes[offset + 1] === NEWLINE)) {
    offset += bytes[offset] === NEWLINE ? 1 : 2;
    lines++;
  }
  return { offset, lines };
}

function countNewlines(bytes: Buffer): number {
  let count = 0;
  for (let i = bytes.indexOf(NEWLINE); i >= 0; i = bytes.indexOf(NEWLINE, i + 1)) count++;
  return count;
}

function trimEnd(bytes: Buffer): Buffer {
  let end = bytes.length;
  if (bytes[end - 1] === NEWLINE) end--;
  if (bytes[end - 1] === CARRIAGE_RETURN) end--;
  return bytes.subarray(0, end);
}

/**
 * Parses a record into cells. An empty cell becomes null. An empty cell in quotes becomes an empty string, or null if
 * `quotesNulls` is true. Returns undefined if the record violates RFC 4180.
 */
export function parseCsvRecord(text: string, quotesNulls = false): (string | null)[] | undefined {
  const cells: (string | null)[] = [];
  for (let at = 0; ; ) {
    const isQuoted = text[at] === '"';
    const end = isQuoted ? findQuoteEnd(text, at) : findComma(text, at);
    if (end === undefined) return undefined;
    const cell = isQuoted ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end) || null;
    cells.push(quotesNulls ? cell || null : cell);
    if (end === text.length) return cells;
    if (text[end] !== ',') return undefined;
    at = end + 1;
  }
}

function findComma(text: string, from: number): number {
  const comma = text.indexOf(',', from);
  return comma < 0 ? text.length : comma;
}

/** Returns the index after the closing quote of the text that starts at `from`; undefined without a closing quote. */
function findQuoteEnd(text: string, from: number): number | undefined {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 2)) {
    if (text[quote + 1] !== '"') return quote + 1;
  }
  return undefined;
}
