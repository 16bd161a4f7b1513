import { access, chmod, constants, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { syncFile, syncFolder } from './durable.js';
import { hasSystemCode, PricelakeError } from './errors.js';

/** The paths of an output file. */
export interface OutputPlace {
  /** The file to write: a temporary file beside the target, or the target itself if it is a device or a pipe. */
  path: string;
  target: string;
  mode?: number;
}

/** Decides where to write an output file. @throws PricelakeError `usage` if the file can't be written */
export async function placeOutput(file: string): Promise<OutputPlace> {
  try {
    const target = await realpath(file).catch(unlessMissing);
    const info = target === undefined ? undefined : await stat(target);
    if (info?.isDirectory() === true) throw refuse(file, 'it is a folder');
    if (target !== undefined && info?.isFile() === false) return { path: target, target };
    const place = target ?? resolve(file);
    const folder = await stat(dirname(place)).catch(unlessMissing);
    if (folder?.isDirectory() !== true) throw refuse(file, `there is no folder ${dirname(file)}`);
    await access(dirname(place), constants.W_OK | constants.X_OK);
    const path = join(dirname(place), `.${basename(place)}.${process.pid}.part`);
    return { path, target: place, ...(info === undefined ? {} : { mode: info.mode & 0o777 }) };
  } catch (error) {
    throw explainOutputFault(file, error);
  }
}

/**
 * Runs `write` with the path of a temporary file. When that file is complete and synced, renames it to `file`. If
 * anything fails, an existing file stays unchanged.
 * @throws PricelakeError `usage` or `disk_full` if the file can't be written
 */
export async function replaceOutput<T>(file: string, write: (path: string) => Promise<T>): Promise<T> {
  const { path, target, mode } = await placeOutput(file);
  try {
    const result = await write(path);
    if (path === target) return result;
    if (mode !== undefined) await chmod(path, mode);
    await syncFile(path);
    await rename(path, target);
    await syncFolder(dirname(target));
    return result;
  } catch (error) {
    if (path !== target) await rm(path, { force: true });
    throw explainOutputFault(file, error);
  }
}

const REASONS: Record<string, string> = {
  ENOENT: 'its folder is missing',
  ENOTDIR: 'a file exists where its folder should be',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'the name is too long',
  EBUSY: 'something, such as a mount, keeps the file in use',
  EFBIG: 'the file would be larger than the system allows',
  EIO: "the disk can't write it",
};

/** Converts a system error about writing a file or stdout to a PricelakeError. Returns other errors unchanged. */
export function explainOutputFault(file: string, error: unknown): unknown {
  if (error instanceof PricelakeError || !(error instanceof Error)) return error;
  // Also searches the message, because DuckDB's errors have no system code.
  const isFull = hasSystemCode(error, 'ENOSPC', 'EDQUOT') || /no space left|disk quota exceeded/iu.test(error.message);
  if (isFull && !/max_temp_directory_size/u.test(error.message)) {
    const hint = 'Free some space or write to another disk, then run the command again.';
    return new PricelakeError('disk_full', `can't write ${file}: no space left`, { hint }, { cause: error });
  }
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  return reason === undefined ? error : refuse(file, reason, error);
}

function refuse(file: string, reason: string, cause?: unknown): PricelakeError {
  return new PricelakeError('usage', `can't write ${file}: ${reason}`, { hint: 'Choose another file.' }, { cause });
}

function unlessMissing(error: unknown): undefined {
  if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
  throw error;
}
