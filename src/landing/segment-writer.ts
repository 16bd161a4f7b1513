import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** A closed, synced piece of an export: whole lines. */
export interface Segment {
  file: string;
  bytes: number;
  rows: number;
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Cuts a stream of NDJSON into segment files of about `targetBytes`, at line ends. `onSegment` gets each one
 * after it is synced, in order, while the next is being written. Bytes are written as they came.
 */
export async function writeSegments(
  body: AsyncIterable<Buffer>,
  options: {
    folder: string;
    prefix: string;
    targetBytes: number;
    onSegment: (segment: Segment) => Promise<void>;
    onBytes: (bytes: number, rows: number) => void;
  },
): Promise<{ rows: bigint; bytes: number }> {
  await removeLeftovers(options.folder, options.prefix);
  const writer = new SegmentWriter(options);
  try {
    for await (const chunk of body) await writer.write(chunk);
    return await writer.finish();
  } finally {
    await writer.dispose();
  }
}

class SegmentWriter {
  readonly #options: Parameters<typeof writeSegments>[1];
  #file: FileHandle | undefined;
  #name = '';
  #number = 0;
  #bytes = 0;
  #rows = 0;
  /** Of the line that is being written. */
  #lineBytes = 0;
  #isLineBlank = true;
  #totalRows = 0n;
  #totalBytes = 0;
  /** Closing of the segment before; at most one is under way. */
  #closing: Promise<void> = Promise.resolve();

  constructor(options: Parameters<typeof writeSegments>[1]) {
    this.#options = options;
  }

  async write(chunk: Buffer): Promise<void> {
    if (chunk.length === 0) return;
    const cut = this.#bytes + chunk.length >= this.#options.targetBytes ? chunk.lastIndexOf(NEWLINE) + 1 : 0;
    if (cut === 0) return this.#append(chunk);
    await this.#append(chunk.subarray(0, cut));
    await this.#closeSegment();
    if (cut < chunk.length) await this.#append(chunk.subarray(cut));
  }

  async finish(): Promise<{ rows: bigint; bytes: number }> {
    if (!this.#isLineBlank) this.#rows++; // the last line has no newline
    this.#isLineBlank = true;
    await this.#closeSegment();
    await this.#closing;
    return { rows: this.#totalRows, bytes: this.#totalBytes };
  }

  async dispose(): Promise<void> {
    await this.#closing.catch(() => {});
    await this.#file?.close();
  }

  async #append(chunk: Buffer): Promise<void> {
    if (this.#file === undefined) {
      this.#number++;
      this.#name = `${this.#options.prefix}${String(this.#number).padStart(5, '0')}.ndjson`;
      this.#file = await open(path.join(this.#options.folder, this.#name), 'wx');
    }
    const rows = this.#countRows(chunk);
    this.#rows += rows;
    this.#bytes += chunk.length;
    let written = 0;
    while (written < chunk.length) {
      written += (await this.#file.write(chunk, written, chunk.length - written)).bytesWritten;
    }
    this.#options.onBytes(chunk.length, rows);
  }

  /** Lines that end in the chunk and hold anything: blank lines are no rows. */
  #countRows(chunk: Buffer): number {
    let rows = 0;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#extendLine(chunk, start, end);
      if (!this.#isLineBlank) rows++;
      this.#lineBytes = 0;
      this.#isLineBlank = true;
      start = end + 1;
    }
    this.#extendLine(chunk, start, chunk.length);
    return rows;
  }

  /** A line is blank when it is empty or a carriage return alone, which may have come in the chunk before. */
  #extendLine(chunk: Buffer, start: number, end: number): void {
    if (end === start) return;
    this.#isLineBlank &&= this.#lineBytes === 0 && end - start === 1 && chunk[start] === CARRIAGE_RETURN;
    this.#lineBytes += end - start;
  }

  async #closeSegment(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    await this.#closing; // where that has failed, dispose() closes this one
    const segment = { file: this.#name, bytes: this.#bytes, rows: this.#rows };
    this.#totalRows += BigInt(segment.rows);
    this.#totalBytes += segment.bytes;
    this.#file = undefined;
    this.#bytes = 0;
    this.#rows = 0;
    this.#closing = (async () => {
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
      await this.#options.onSegment(segment);
    })();
    this.#closing.catch(() => {}); // reported by the await above or in finish()
  }
}

/** Files of an earlier process that the journal does not name. */
async function removeLeftovers(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(prefix)) await rm(path.join(folder, name));
  }
}
