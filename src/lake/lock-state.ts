import { stat } from 'node:fs/promises';
import { ignoreMissing } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Lake } from '../tables/layout.js';
import { readChain, STALE_MS } from './lock.js';
import { isAlive } from './process-identity.js';

/** The holder of a lake's lock, as far as another process can observe it. */
export interface LockState {
  pid: number;
  host: string;
  since: string;
  /** The time at which the holder last renewed the lock, by the file system's clock. */
  beatAt: Date;
  /** False if the holder is dead. The next writer then takes over the lock. */
  alive: boolean;
}

/** Reads the lock without changing it. Returns undefined if nobody holds it. */
export async function readLock(lake: Lake, io: Io): Promise<LockState | undefined> {
  const last = (await readChain(lake)).at(-1);
  const beat = last === undefined ? undefined : await stat(last.path).catch(ignoreMissing);
  if (last === undefined || beat === undefined) return undefined;
  const { pid, host, acquiredAt: since } = last.owner;
  const alive = isAlive(last.owner) ?? io.now().getTime() - beat.mtimeMs <= STALE_MS;
  return { pid, host, since, beatAt: beat.mtime, alive };
}
