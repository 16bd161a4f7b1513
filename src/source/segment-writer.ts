import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '../io/durable.js';
import type { ExportLimits } from '../io/limits.js';
import { ExportBounds } from './export-bounds.js';
import { createRowScanner, type ExportFormat, type RowScanner } from './row-scanner.js';
import { withWideHeap } from './wide-heap.js';

/** A closed and synced file that holds a part of an export, made of complete rows. */
export interface Segment {
  file: string;
  bytes: number;
  rows: number;
  /** The SHA-256 of the whole file in hexadecimal, including the header that each CSV file repeats. */
  fileSha256: string;
}

/**
 * Splits an export into files of about `targetBytes` that contain only complete rows. Every CSV file starts with the
 * header. Calls `onSegment` for each synced file, in order, while the next file is being written. Throws an error of
 * ExportBounds if the body has more rows than announced, or doesn't fit on the disk.
 */
export async function writeSegments(
  body: AsyncIterable<Buffer>,
  options: {
    folder: string;
    prefix: string;
    format?: ExportFormat;
    targetBytes: number;
    announced: bigint;
    limits?: ExportLimits;
    onSegment: (segment: Segment) => Promise<void>;
    onBytes: (bytes: number, rows: number) => void;
  },
): Promise<{ rows: bigint; bytes: number }> {
  await removeLeftovers(options.folder, options.prefix);
  const writer = new SegmentWriter(options);
  try {
    await withWideHeap(async () => {
      for await (const chunk of body) await writer.write(chunk);
    });
    return await writer.finish();
  } finally {
    await writer.dispose();
  }
}

/** Chunks from the network are joined up to this size. Fewer writes leave more threads to DuckDB. */
const WRITE_BYTES = 1024 * 1024;

class SegmentWriter {
  readonly #options: Parameters<typeof writeSegments>[1];
  #file: FileHandle | undefined;
  readonly #waiting = Buffer.allocUnsafe(WRITE_BYTES);
  #waitingBytes = 0;
  #hash: Hash = createHash('sha256');
  #name = '';
  #number = 0;
  #bytes = 0;
  #rows = 0;
  readonly #scanner: RowScanner;
  readonly #bounds: ExportBounds;
  #totalRows = 0n;
  #totalBytes = 0;
  /** Resolves when the previous file is closed. At most one file is being closed at a time. */
  #closing: Promise<void> = Promise.resolve();

  constructor(options: Parameters<typeof writeSegments>[1]) {
    this.#options = options;
    this.#scanner = createRowScanner(options.format ?? 'ndjson');
    this.#bounds = new ExportBounds(options.announced, options.folder, options.limits);
  }

  async write(chunk: Buffer): Promise<void> {
    if (chunk.length === 0) return;
    const { rows, end } = this.#scanner.scan(chunk);
    const landed = {
      rows: this.#totalRows + BigInt(this.#rows + rows),
      bytes: this.#totalBytes + this.#bytes + chunk.length,
      openBytes: this.#scanner.openBytes,
    };
    this.#bounds.admit(landed);
    await this.#bounds.requireRoom(landed);
    const cut = this.#bytes + chunk.length >= this.#options.targetBytes ? end : 0;
    if (cut === 0) return this.#append(chunk, rows);
    await this.#append(chunk.subarray(0, cut), rows);
    await this.#closeSegment();
    if (cut < chunk.length) await this.#append(chunk.subarray(cut), 0);
  }

  async finish(): Promise<{ rows: bigint; bytes: number }> {
    this.#rows += this.#scanner.finish(); // counts a last row without a line break
    await this.#closeSegment();
    await this.#closing;
    return { rows: this.#totalRows, bytes: this.#totalBytes };
  }

  async dispose(): Promise<void> {
    await this.#closing.catch(() => {});
    await this.#file?.close();
  }

  async #append(chunk: Buffer, rows: number): Promise<void> {
    this.#file ??= await this.#openFile();
    this.#rows += rows;
    this.#bytes += chunk.length;
    await this.#write(this.#file, chunk);
    this.#options.onBytes(chunk.length, rows);
  }

  async #write(file: FileHandle, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const copied = bytes.copy(this.#waiting, this.#waitingBytes, at);
      at += copied;
      this.#waitingBytes += copied;
      if (this.#waitingBytes === WRITE_BYTES) await this.#flush(file);
    }
  }

  async #flush(file: FileHandle): Promise<void> {
    const bytes = this.#waiting.subarray(0, this.#waitingBytes);
    this.#hash.update(bytes);
    await writeAll(file, bytes);
    this.#waitingBytes = 0;
  }

  async #openFile(): Promise<FileHandle> {
    const { prefix, folder, format = 'ndjson' } = this.#options;
    this.#number++;
    this.#name = `${prefix}${String(this.#number).padStart(5, '0')}.${format}`;
    const file = await open(path.join(folder, this.#name), 'wx');
    this.#hash = createHash('sha256');
    if (this.#number > 1) await this.#write(file, this.#scanner.header);
    return file;
  }

  async #closeSegment(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    await this.#flush(file);
    await this.#closing; // if the previous file can't be closed, dispose() closes this file
    const fileSha256 = this.#hash.digest('hex');
    const segment = { file: this.#name, bytes: this.#bytes, rows: this.#rows, fileSha256 };
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
      await syncFolder(this.#options.folder);
      await this.#options.onSegment(segment);
    })();
    this.#closing.catch(() => {}); // the error is thrown by the await above or by finish()
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    written += (await file.write(bytes, written, bytes.length - written)).bytesWritten;
  }
}

/** Deletes files that an earlier process has left and that the journal doesn't list. */
async function removeLeftovers(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.startsWith(prefix)) await rm(path.join(folder, name));
  }
}
