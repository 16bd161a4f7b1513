import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BYTE_ORDER_MARK, withoutMark } from '../formats/byte-order-mark.js';
import type { Query } from './api-url.js';
import type { Answer } from './transport.js';

/** The size of zlib's buffer in bytes. With zlib's default of 16 KiB, decoding is slower by a third. */
const PIECE = 256 * 1024;

/** Returns the content encoding, or undefined if the client hasn't requested this encoding. */
export function readEncoding(headers: Record<string, string>): 'identity' | 'gzip' | undefined {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return 'identity';
  return encoding === 'gzip' || encoding === 'x-gzip' ? 'gzip' : undefined;
}

/**
 * Decodes a body with backpressure, and removes a byte-order mark at its start. Throws if a gzip body is truncated,
 * corrupt or empty: zlib checks the body's length and checksum. Doesn't copy an uncompressed body.
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
  // The reader receives the error from `gunzip`. This callback only prevents an unhandled rejection.
  pipeline(Readable.from(answer.body, { objectMode: false, highWaterMark: PIECE }), gunzip, () => {});
  return gunzip;
}

/** Reads a whole body. Returns undefined if it is longer than `maxBytes`. */
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

/** Reads at most `maxBytes` from the start of a body. If the body fails, returns what has arrived. Never throws. */
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
    // Ignores the error, because the start of a body is useful in a message even if the rest is missing.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** The media type of every response except a successful export (API §1, rule 3). */
export const JSON_TYPE = 'application/json';

/** Returns the media type of an export (API §4, `/export`). The default format is CSV. */
export function exportType(query: Query): string {
  return query.format === 'ndjson' ? 'application/x-ndjson' : 'text/csv';
}

/** True if the header names the expected media type, and either UTF-8 or no charset. */
export function isMediaType(header: string | undefined, expected: string): boolean {
  const [type, ...parameters] = header?.toLowerCase().split(';') ?? [];
  const charset = parameters
    .map((text) => text.trim())
    .find((text) => text.startsWith('charset='))
    ?.slice('charset='.length);
  return type?.trim() === expected && (charset === undefined || /^"?utf-?8"?$/.test(charset));
}
