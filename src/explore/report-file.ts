import { open, stat } from 'node:fs/promises';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { placeOutput } from '../io/output-file.js';
import { REPORT_MARK } from './report.js';

/** The number of bytes to read from the start of a file, which contain the mark if the file is a report. */
const HEAD_BYTES = 2048;

/**
 * Refuses to overwrite a file that is not a pricelake report. Call this before any work is done.
 * @throws PricelakeError `usage` if the path leads to another file or can't be written
 */
export async function requireReportTarget(path: string): Promise<void> {
  await placeOutput(path);
  const info = await stat(path).catch(ignoreMissing);
  if (info === undefined) return;
  if (info.isFile() && (info.size === 0 || (await readHead(path)).includes(REPORT_MARK))) return;
  throw new PricelakeError('usage', `--output ${path}: the file is not a pricelake report`, {
    hint: 'Choose another file, or delete this one.',
  });
}

async function readHead(path: string): Promise<string> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
