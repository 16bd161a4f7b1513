import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { PricelakeError } from './errors.js';

/** Reads a user's text file. Omits a byte-order mark. @throws PricelakeError `config` if the file isn't UTF-8 */
export async function readUserText(file: string): Promise<string> {
  return decodeUserText(await readFile(file), file);
}

/** Decodes UTF-8. @param file the name in the message @throws PricelakeError `config` if the bytes aren't UTF-8 */
export function decodeUserText(bytes: Uint8Array, file: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.slice(0, HEAD_BYTES).includes('\0')) return text;
  } catch {
    // the error is thrown below
  }
  throw refuseEncoding(bytes, file);
}

/** Checks a file that DuckDB will read. @throws PricelakeError `config` if the file isn't UTF-8 */
export async function requireUtf8(file: string): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let head: Buffer | undefined;
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      head ??= chunk.subarray(0, HEAD_BYTES);
      if (decoder.decode(chunk, { stream: true }).includes('\0')) throw refuseEncoding(head, file);
    }
    decoder.decode();
  } catch (error) {
    throw error instanceof TypeError ? refuseEncoding(head ?? Buffer.alloc(0), file) : error;
  }
}

const HEAD_BYTES = 4096;

function refuseEncoding(bytes: Uint8Array, file: string): PricelakeError {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES));
  const mark = head.toString('hex', 0, 2);
  const nulls = (odd: number) => head.filter((byte, index) => byte === 0 && index % 2 === odd).length;
  let encoding = 'not UTF-8; it may be Windows-1252 (cp1252) or another single-byte encoding';
  if (mark === 'fffe' || nulls(1) > head.length / 8) encoding = 'UTF-16 LE, not UTF-8';
  else if (mark === 'feff' || nulls(0) > head.length / 8) encoding = 'UTF-16 BE, not UTF-8';
  else if (head.includes(0)) encoding = 'not text: it has zero bytes';
  return new PricelakeError('config', `${file}: the file is ${encoding}`, {
    hint: 'Save it as UTF-8: in Excel as "CSV UTF-8", or with `iconv -f WINDOWS-1252 -t UTF-8` or `iconv -f UTF-16 -t UTF-8`.',
  });
}
