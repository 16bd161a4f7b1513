import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { Lake } from '../tables/layout.js';
import { type Inspection, inspectLake, inspectNothing } from './inspect-lake.js';
import { hasLandings, locateLake, openLake } from './lake.js';
import { holdLake, type LockedLake } from './locked-lake.js';
import { explainSystemFault } from './system-faults.js';

export interface RepairableLake {
  lake: Lake;
  damage: string | undefined;
  /** True if another version of pricelake wrote the lake, and this version can't read its tables. */
  isOtherFormat: boolean;
}

/**
 * Opens a lake for reading. Accepts a marker file that is missing, damaged or of another format if runs have downloaded
 * data to the lake.
 * @throws PricelakeError `lake_invalid` if `openLake` fails and no run has downloaded data to the lake
 */
export async function openDamagedLake(path: string): Promise<RepairableLake> {
  const lake = locateLake(path);
  try {
    return { lake: await openLake(path, { create: false }), damage: undefined, isOtherFormat: false };
  } catch (error) {
    if (!(error instanceof PricelakeError) || !(await hasLandings(lake))) throw error;
    return { lake, damage: error.message, isOtherFormat: error.facts.version !== undefined };
  }
}

/** An inspected lake. `markerDamage` describes the fault of the marker file, or is undefined if the file is intact. */
export type DamagedLake = Inspection & { markerDamage: string | undefined };

/**
 * Locks and inspects a lake that may be damaged or have another format. Then runs `work`, which may repair the lake.
 * @throws PricelakeError `lake_invalid` if there is no lake, `lake_locked` if another process holds the lock
 */
export function withDamagedLake<T>(
  lakePath: string,
  io: Io,
  signal: AbortSignal,
  work: (locked: LockedLake, inspection: DamagedLake) => Promise<T>,
  memory?: number | undefined,
): Promise<T> {
  return explainSystemFault(lakePath, async () => {
    const { lake, damage: markerDamage, isOtherFormat } = await openDamagedLake(lakePath);
    return holdLake(lake, io, signal, memory, async (locked) => {
      const inspection = isOtherFormat ? inspectNothing(markerDamage ?? '') : await inspectLake(lake);
      return work(locked, { ...inspection, markerDamage });
    });
  });
}
