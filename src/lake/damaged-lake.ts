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
  /** True if the tables have an unsupported format, so that only the landing is read. */
  isOtherFormat: boolean;
}

/**
 * Opens a lake even if its marker is damaged, missing or of another format, if runs have landed in it. Writes nothing.
 * @throws PricelakeError `lake_invalid` as openLake does for everything else
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

/** An inspected lake, parts of which may be damaged. */
export type DamagedLake = Inspection & { markerDamage: string | undefined };

/**
 * Locks and inspects a lake whose logs, lake.json or marker may be damaged or of another format, and runs `work`. Does
 * not repair anything itself.
 * @throws PricelakeError `lake_invalid` if there is no lake, `lake_locked`
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
