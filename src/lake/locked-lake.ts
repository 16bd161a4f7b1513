import type { Io } from '../io/io.js';
import type { Database } from '../sql/connection.js';
import type { Lake } from '../tables/layout.js';
import { explainDamage } from './damage.js';
import { explainMemory } from './faults.js';
import { findForeignChanges, refuseForeignChanges } from './foreign-changes.js';
import { openLake } from './lake.js';
import { lockLake } from './lock.js';
import { readPointer } from './pointer.js';
import { acceptTables, readStates } from './read.js';
import { recoverLake } from './recover.js';
import { openSession } from './session.js';
import { dropRebuild, finishSwap } from './swap-lake.js';
import { explainSystemFault } from './system-faults.js';

/** A locked lake, to which only this process can write, and a database that can query the lake. */
export interface LockedLake {
  lake: Lake;
  db: Database;
  /** Aborts when the process must stop or has lost the lock. */
  stop: AbortSignal;
}

/**
 * Locks a lake, cleans up after a crash, runs `work`, and unlocks the lake.
 * @param memory DuckDB's memory limit in bytes
 * @throws PricelakeError `lake_invalid` if there is no lake, if its format isn't supported, or if another program has
 * changed its tables; `lake_locked` if another process holds the lock
 */
export function withLockedLake<T>(
  lakePath: string,
  io: Io,
  signal: AbortSignal,
  work: (locked: LockedLake) => Promise<T>,
  memory?: number | undefined,
): Promise<T> {
  return explainSystemFault(lakePath, async () => {
    const lake = await openLake(lakePath, { create: false });
    return holdLake(lake, io, signal, memory, work, async () => {
      const states = await readStates(lake);
      refuseForeignChanges(lake, await findForeignChanges(lake, states, await readPointer(lake)));
      acceptTables(lake, states);
      await recoverLake(lake, io);
      await dropRebuild(lake);
    });
  });
}

/** Locks an open lake, finishes an interrupted swap, runs `prepare` and `work`, and unlocks the lake. */
export async function holdLake<T>(
  lake: Lake,
  io: Io,
  signal: AbortSignal,
  memory: number | undefined,
  work: (locked: LockedLake) => Promise<T>,
  prepare = async () => {},
): Promise<T> {
  const lock = await lockLake(lake, io);
  const stop = AbortSignal.any([signal, lock.lost]);
  try {
    await finishSwap(lake);
    await prepare();
    const session = await openSession({ workFolder: lock.workFolder, memoryLimit: memory });
    try {
      const doWork = () => explainDamage(lake.root, () => work({ lake, db: session.db, stop }));
      return await lock.explainLoss(() => explainMemory(lake.root, doWork));
    } finally {
      await session.close();
    }
  } finally {
    await lock.release();
  }
}
