import { readdir } from 'node:fs/promises';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { type Lake, privatePath } from '../tables/layout.js';
import { locateLake, openLake } from './lake.js';

export interface RepairableLake {
  lake: Lake;
  damage: string | undefined;
  /** True if the tables have another format: then only the landing is read. */
  isOtherFormat: boolean;
}

/**
 * Opens a lake also where its marker is damaged, gone or of another format, as long as runs have landed in it. Nothing
 * is written.
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
