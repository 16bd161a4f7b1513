import { readdir } from 'node:fs/promises';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { type Lake, privatePath } from '../tables/layout.js';
import { type Inspection, inspectLake, inspectNothing } from './inspect-lake.js';
import { locateLake, openLake } from './lake.js';
import { holdLake, type LockedLake } from './locked-lake.js';
import { explainSystemFault } from './system-faults.js';

export interface RepairableLake {
  lake: Lake;
  damage: string | undefined;
  /** True if this version doesn't support the lake's format. Only the downloaded responses are then read. */
  isOtherFormat: boolean;
}

/**
 * Opens a lake to which runs have downloaded data, even if its marker file is missing, damaged or of another format.
 * Writes nothing.
 * @throws PricelakeError `lake_invalid` in all other cases in which openLake throws this error
 */
export async function openDamagedLake(path: string): Promise<RepairableLake> {
  const lake = locateLake(path);
  try {
    return { lake: await openLake(path, { create: false }), damage: undefined, isOtherFormat: false };
  } catch (error) {
    if (!(error instanceof PricelakeError) || !(await hasLandings(lake))) throw error;
    const file = privatePath(lake, 'format.json');
    const damage = error.message.startsWith(file) ? error.message : `${file}: missing`;
    return { lake, damage, isOtherFormat: error.facts.version !== undefined };
  }
}

async function hasLandings(lake: Lake): Promise<boolean> {
  const names = (await readdir(privatePath(lake, 'landing')).catch(ignoreMissing)) ?? [];
  return names.some((name) => /^\d{6,}-/.test(name));
}

/** An inspected lake. If its marker file is wrong, `markerDamage` describes the fault. */
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
