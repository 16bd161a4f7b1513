import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasSystemCode, PricelakeError } from './errors.js';

/** Creates a folder for temporary files. @throws PricelakeError `usage` if the parent folder can't be used */
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

/** Removes a folder, even if another process is still creating files in it. */
export function removeBusyFolder(path: string): Promise<void> {
  // If another process creates a file during the removal, `rm` tries again for about six seconds.
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** True if a process with this id exists, even if it belongs to another user. */
export function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasSystemCode(error, 'EPERM');
  }
}
