import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BYTE_ORDER_MARK, withoutMark } from '../formats/byte-order-mark.js';
import type { Query } from './api-url.js';
import type { Answer } from './transport.js';

/** The buffer size. zlib's default of 16 KiB makes it a third slower. */
const PIECE = 256 * 1024;

/** Undefined for an encoding that was not requested. */
export function readEncoding(headers: Record<string, string>): 'identity' | 'gzip' | undefined {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return 'identity';
  return encoding === 'gzip' || encoding === 'x-gzip' ? 'gzip' : undefined;
}

/**
 * Decodes a body and keeps the backpressure to the socket. A gzip body that is cut, damaged or empty is an error,
 * because zlib checks its length and checksum. Without gzip, chunks are not copied. Drops a byte-order mark at the
 * beginning.
 */
export async function* decodeBody(answer: Answer): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of decompress(answer)) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    if (head.length < BYTE_ORDER_MARK.length) continue;
    yield withoutMark(head);
    head = undefined;
  }
  if (head !== undefined && head.length > 0) yield withoutMark(head);
}

function decompress(answer: Answer): AsyncIterable<Buffer> {
  if (readEncoding(answer.headers) !== 'gzip') return answer.body;
  const gunzip = createGunzip({ chunkSize: PIECE });
  // The reader gets the error through gunzip. The callback only marks it as handled.
  pipeline(Readable.from(answer.body, { objectMode: false, highWaterMark: PIECE }), gunzip, () => {});
  return gunzip;
}

/** Collects a body; undefined if it is longer than `maxBytes`. */
export async function collectBody(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size);
}

/** Collects the first bytes, as many as arrive. Never throws. */
export async function collectStart(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // Even an incomplete beginning helps.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** The media type of every answer except a successful export (section 1, rule 3). */
export const JSON_TYPE = 'application/json';

/** The media type of an export (section 4, `/export`); `csv` is the default. */
export function exportType(query: Query): string {
  return query.format === 'ndjson' ? 'application/x-ndjson' : 'text/csv';
}

/** True for the expected media type. A charset must be UTF-8. */
export function isMediaType(header: string | undefined, expected: string): boolean {
  const [type, ...parameters] = header?.toLowerCase().split(';') ?? [];
  const charset = parameters
    .map((text) => text.trim())
    .find((text) => text.startsWith('charset='))
    ?.slice('charset='.length);
  return type?.trim() === expected && (charset === undefined || /^"?utf-?8"?$/.test(charset));
}
