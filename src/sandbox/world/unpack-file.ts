import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { hasSystemCode, PricelakeError } from '../../errors/errors.js';

/** A plain file is read where it lies; Node unpacks gzip, since DuckDB takes a damaged one for a shorter file. */
export async function unpackFile(directory: string, file: string, row: 'Item' | 'Change'): Promise<string> {
  try {
    const source = await open(file);
    const { buffer, bytesRead } = await source.read(Buffer.alloc(2), 0, 2, 0);
    await source.close();
    if (bytesRead < 2 || buffer.readUInt16BE() !== 0x1f8b) return file;
    const path = join(directory, 'data.ndjson');
    await pipeline(createReadStream(file), createGunzip(), createWriteStream(path));
    return path;
  } catch (cause) {
    const isMissing = hasSystemCode(cause, 'ENOENT', 'EISDIR', 'EACCES');
    const reason = isMissing ? 'the file cannot be read' : 'the gzip data are damaged';
    const hint = `Give the path of an NDJSON file, one ${row} a line, plain or gzip.`;
    throw new PricelakeError(isMissing ? 'usage' : 'config', `${file}: ${reason}`, { hint }, { cause });
  }
}
