import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasSystemCode, PricelakeError } from './errors.js';

/**
 * Creates a folder of this process for temporary files.
 * @throws PricelakeError `usage` if the system's folder for temporary files can't be used
 */
export function makeTemporaryFolder(prefix = 'pricelake-', parent = tmpdir()): Promise<string> {
  return mkdtemp(join(parent, prefix)).catch((cause: unknown) => {
    throw explainTemporary(parent, cause);
  });
}

export function explainTemporary(parent: string, cause: unknown): unknown {
  if (!hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS')) return cause;
  const isMissing = hasSystemCode(cause, 'ENOENT', 'ENOTDIR');
  const what = isMissing ? 'there is no such folder' : 'this user may not write there';
  const hint = 'Set TMPDIR to a folder that this user may write.';
  return new PricelakeError('usage', `temporary files go to ${parent}, but ${what}`, { hint }, { cause });
}

/** Removes a folder into which a process that nobody waits for may still write for a moment. */
export function removeBusyFolder(path: string): Promise<void> {
  // If a file is created meanwhile, `rm` tries again for up to six seconds.
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** True if the process exists. */
export function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasSystemCode(error, 'EPERM'); // the process belongs to another user
  }
}
