import { createReadStream } from 'node:fs';

const NEWLINE = 0x0a;
const CHUNK_BYTES = 4 << 20;

/** Pieces of a file that end at line ends (only the last may not), so that no line is cut. */
export async function* readWholeLines(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const cut = bytes.lastIndexOf(NEWLINE) + 1;
    if (cut > 0) yield bytes.subarray(0, cut);
    rest = bytes.subarray(cut);
  }
  if (rest.length > 0) yield rest;
}

/** The lines of a file without their newlines. Bytes, not text: U+2028 ends no line of NDJSON. */
export async function* readLines(path: string): AsyncGenerator<Buffer> {
  for await (const bytes of readWholeLines(path)) {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    if (start < bytes.length) yield bytes.subarray(start);
  }
}
