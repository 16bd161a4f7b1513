import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const IN_MEMORY = '/dev/shm';
/** Several times the space that all tests need at once. */
const ROOM_BYTES = 1024 ** 3;

/**
 * A folder for whatever tests write, gone with the run: in memory where there is room, since a run waits for the disk to
 * have each of its files.
 */
export default function makeTemporaryFolder(): () => void {
  const parent = process.env.TMPDIR === undefined && hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir();
  const folder = mkdtempSync(path.join(parent, 'pricelake-tests-'));
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > ROOM_BYTES;
  } catch {
    return false; // other systems have no such folder
  }
}
