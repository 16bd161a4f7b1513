import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { Database } from '../duckdb/connection.js';
import type { Io } from '../io.js';
import { refuseUnknownColumns } from '../lake/column-drift.js';
import { explainDamage } from '../lake/damage.js';
import { findForeignChanges, refuseForeignChanges } from '../lake/foreign-changes.js';
import { type Lake, openLake } from '../lake/lake.js';
import { lockLake } from '../lake/lock.js';
import { readPointer } from '../lake/publish.js';
import { readTable } from '../lake/read.js';
import { recoverLake } from '../lake/recover.js';
import { TABLE_NAMES } from '../model.js';

const MEMORY_LIMIT = '800MB';

/** A lake that this process alone may write, and a database to work with. */
export interface LockedLake {
  lake: Lake;
  db: Database;
  /** Aborted when the process is told to stop, or when the lock was lost. */
  stop: AbortSignal;
}

/**
 * Opens a lake for work on what it holds: locks it, puts right what a crash left, and lets go of all afterwards.
 * @throws PricelakeError `lake_invalid` when there is no lake, a newer version wrote it or another program changed it,
 * `lake_locked`.
 */
export async function withLockedLake<T>(
  lakePath: string,
  io: Io,
  signal: AbortSignal,
  work: (locked: LockedLake) => Promise<T>,
): Promise<T> {
  const lake = await openLake(lakePath, { create: false });
  const lock = await lockLake(lake, io);
  const workFolder = path.join(lake.root, '_pricelake', 'work', 'maintenance');
  const stop = AbortSignal.any([signal, lock.lost]);
  try {
    const states = await Promise.all(TABLE_NAMES.map((table) => readTable(lake, table)));
    refuseForeignChanges(lake, await findForeignChanges(lake, states, await readPointer(lake)));
    refuseUnknownColumns(lake, states);
    await recoverLake(lake, io);
    await rm(workFolder, { recursive: true, force: true });
    await mkdir(workFolder, { recursive: true });
    const db = await Database.open({ tempDirectory: workFolder, memoryLimit: MEMORY_LIMIT, signal: stop });
    try {
      return await explainDamage(lake.root, () => work({ lake, db, stop }));
    } finally {
      db.close();
    }
  } finally {
    await rm(workFolder, { recursive: true, force: true });
    await lock.release();
  }
}
