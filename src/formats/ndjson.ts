import { open } from 'node:fs/promises';

const NEWLINE = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const CHUNK_BYTES = 4 << 20;

/** True for a line that contains only white space, and so isn't a row. */
export function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== SPACE && byte !== TAB && byte !== CARRIAGE_RETURN) return false;
  return true;
}

/**
 * Reads a file in chunks of complete lines. Only the last line may lack a line break. All chunks use the same buffer,
 * so a chunk is valid only until the next chunk is read.
 */
export async function* readWholeLines(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    let bytes = Buffer.allocUnsafe(CHUNK_BYTES);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled);
      if (bytesRead === 0) break;
      const cut = bytes.subarray(0, filled + bytesRead).lastIndexOf(NEWLINE) + 1;
      filled += bytesRead;
      if (cut > 0) {
        yield bytes.subarray(0, cut);
        bytes.copyWithin(0, cut, filled);
        filled -= cut;
      } else if (filled === bytes.length) bytes = Buffer.concat([bytes], 2 * bytes.length);
    }
    if (filled > 0) yield bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

/**
 * Yields lines as bytes, without their line breaks. Doesn't use Node's readline, which would also split text at U+2028.
 * A line is valid only until the next line is read.
 */
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
