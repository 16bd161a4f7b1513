import path from 'node:path';
import type { Database } from '../duckdb/connection.js';
import type { Io } from '../io/io.js';
import { TABLE_NAMES } from '../tables/table.js';
import { refuseUnknownColumns } from './column-difference.js';
import { explainDamage } from './damage.js';
import { findForeignChanges, refuseForeignChanges } from './foreign-changes.js';
import { type Inspection, inspectLake } from './inspect-lake.js';
import { type Lake, openDamagedLake, openLake } from './lake.js';
import { lockLake } from './lock.js';
import { readPointer } from './pointer.js';
import { readTable } from './read.js';
import { recoverLake } from './recover.js';
import { openSession } from './session.js';
import { finishSwap } from './swap-lake.js';
import { explainSystemFault } from './system-fault.js';

/** A lake that this process alone may write, and a database to work with. */
export interface LockedLake {
  lake: Lake;
  db: Database;
  /** Aborted when the process has to stop, or when the lock is lost. */
  stop: AbortSignal;
}

/**
 * Opens a lake for work on what it holds: locks it, puts right what a crash left, and lets go of all afterwards.
 * @throws PricelakeError `lake_invalid` when there is no lake, a newer version wrote it or another program changed it,
 * `lake_locked`.
 */
export function withLockedLake<T>(
  lakePath: string,
  io: Io,
  signal: AbortSignal,
  work: (locked: LockedLake) => Promise<T>,
): Promise<T> {
  return explainSystemFault(lakePath, () => lockAndWork(lakePath, io, signal, work));
}

async function lockAndWork<T>(
  lakePath: string,
  io: Io,
  signal: AbortSignal,
  work: (locked: LockedLake) => Promise<T>,
): Promise<T> {
  const lake = await openLake(lakePath, { create: false });
  const open = async () => {
    const states = await Promise.all(TABLE_NAMES.map((table) => readTable(lake, table)));
    refuseForeignChanges(lake, await findForeignChanges(lake, states, await readPointer(lake)));
    refuseUnknownColumns(lake, states);
    await recoverLake(lake, io);
  };
  return holdLake(lake, io, signal, open, work);
}

/**
 * The same for a lake of which logs, lake.json or its marker may be damaged: it is locked and looked at, and stays as it is.
 * @throws PricelakeError `lake_invalid` when there is no lake, or a newer version wrote it, `lake_locked`.
 */
export function withDamagedLake<T>(
  lakePath: string,
  io: Io,
  signal: AbortSignal,
  work: (locked: LockedLake, inspection: Inspection & { markerDamage: string | undefined }) => Promise<T>,
): Promise<T> {
  return explainSystemFault(lakePath, async () => {
    const { lake, damage: markerDamage } = await openDamagedLake(lakePath);
    const open = async () => {};
    return holdLake(lake, io, signal, open, async (locked) =>
      work(locked, { ...(await inspectLake(lake)), markerDamage }),
    );
  });
}

async function holdLake<T>(
  lake: Lake,
  io: Io,
  signal: AbortSignal,
  open: () => Promise<void>,
  work: (locked: LockedLake) => Promise<T>,
): Promise<T> {
  const lock = await lockLake(lake, io);
  const workFolder = path.join(lake.root, '_pricelake', 'work', 'maintenance');
  const stop = AbortSignal.any([signal, lock.lost]);
  try {
    await finishSwap(lake);
    await open();
    const session = await openSession({ workFolder });
    try {
      return await explainDamage(lake.root, () => work({ lake, db: session.db, stop }));
    } finally {
      await session.close();
    }
  } finally {
    await lock.release();
  }
}
