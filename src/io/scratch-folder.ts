import { readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasSystemCode } from './errors.js';
import { canSignal, explainTemporary, makeTemporaryFolder } from './temporary-folder.js';

/**
 * Creates a folder to which only this user has access, such as `pricelake-explore-…`. Also removes folders of the same
 * kind that killed processes left behind.
 */
export async function makeScratchFolder(kind: string, parent = tmpdir()): Promise<string> {
  // The name includes the host, because process ids aren't unique if several machines share the parent folder.
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

async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error: unknown) => {
    if (!hasSystemCode(error, 'EPERM', 'EACCES')) throw error;
  });
}
