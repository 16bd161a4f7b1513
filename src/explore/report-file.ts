import { randomUUID } from 'node:crypto';
import { open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile } from '../io/durable.js';
import { hasSystemCode, PricelakeError } from '../io/errors.js';
import { REPORT_MARK } from './report.js';

/** The mark comes after the policy, near the beginning. */
const HEAD_BYTES = 2048;

/**
 * Refuses to overwrite anything but a report of ours, before any work is done.
 * @throws PricelakeError `usage`
 */
export async function requireReportTarget(path: string): Promise<void> {
  const info = await stat(path).catch(ignoreUnreachable);
  if (info === undefined) {
    const folder = await stat(dirname(path)).catch(ignoreUnreachable);
    if (folder?.isDirectory() === true) return;
    throw new PricelakeError('usage', `--output ${path}: there is no folder ${dirname(path)}`);
  }
  if (info.isFile() && (info.size === 0 || (await readHead(path)).includes(REPORT_MARK))) return;
  throw new PricelakeError('usage', `--output ${path}: the file is not a report of pricelake`, {
    hint: 'Name another file, or remove this one.',
  });
}

/** Writes beside and renames into place, so that a reader sees the old report or the new one. */
export async function publishReport(path: string, page: string): Promise<void> {
  const target = (await realpath(path).catch(ignoreUnreachable)) ?? path;
  const temporary = join(dirname(target), `.${basename(target)}.${randomUUID()}`);
  try {
    await replaceFile(target, page, temporary);
  } catch (cause) {
    if (!hasSystemCode(cause, 'EACCES', 'EPERM', 'EROFS')) throw cause;
    throw new PricelakeError('usage', `--output ${path} cannot be written`, {}, { cause });
  }
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

/** As `ignoreMissing`, also if a file takes the place of a folder. */
function ignoreUnreachable(error: unknown): undefined {
  if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
  throw error;
}
