import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
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

function explainTemporary(parent: string, cause: unknown): unknown {
  if (!hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS')) return cause;
  const isMissing = hasSystemCode(cause, 'ENOENT', 'ENOTDIR');
  const what = isMissing ? 'there is no such folder' : 'this user may not write there';
  const hint = 'Set TMPDIR to a folder that this user may write.';
  return new PricelakeError('usage', `temporary files go to ${parent}, but ${what}`, { hint }, { cause });
}

/**
 * Creates a folder that only this user can enter, such as `pricelake-explore-…`. Removes folders of the same kind that
 * killed processes left.
 */
export async function makeScratchFolder(kind: string, parent = tmpdir()): Promise<string> {
  // The name includes the host, because in a folder that machines share, each knows only its own processes.
  const prefix = `pricelake-${kind}-${hostname().replaceAll(/[^\w.]/g, '_')}-`;
  const names = await readdir(parent).catch((cause: unknown) => {
    throw explainTemporary(parent, cause);
  });
  for (const name of names) {
    const pid = name.startsWith(prefix) ? /^(\d+)-/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid !== undefined && !canSignal(Number(pid))) await removeFolder(join(parent, name));
  }
  return makeTemporaryFolder(`${prefix}${process.pid}-`, parent);
}

/** Removes a folder into which a process that nobody waits for may still write for a moment. */
export function removeBusyFolder(path: string): Promise<void> {
  // If a file is created meanwhile, `rm` tries again for up to six seconds.
  return rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Removes a folder, unless it belongs to another user. */
async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error: unknown) => {
    if (!hasSystemCode(error, 'EPERM', 'EACCES')) throw error;
  });
}

/** True if the process exists. */
export function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasSystemCode(error, 'EPERM'); // the process belongs to another user
  }
}
