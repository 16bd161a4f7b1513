import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasSystemCode } from '../../errors/errors.js';

/** Of this machine: in a folder that several share, each knows its own processes alone. */
const PREFIX = `pricelake-sandbox-${hostname().replaceAll(/[^\w.]/g, '_')}-`;

/** A fresh folder of this process for all that a world holds. Those of processes that were killed are removed. */
export async function makeScratchFolder(parent = tmpdir()): Promise<string> {
  for (const name of await readdir(parent)) {
    const pid = name.startsWith(PREFIX) ? /^(\d+)-/.exec(name.slice(PREFIX.length))?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) await removeFolder(join(parent, name));
  }
  return mkdtemp(join(parent, `${PREFIX}${process.pid}-`));
}

/** One that is somebody else's stays. */
async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error: unknown) => {
    if (!hasSystemCode(error, 'EPERM', 'EACCES')) throw error;
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is somebody else's.
    return !hasSystemCode(error, 'ESRCH');
  }
}
