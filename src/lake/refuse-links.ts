import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasSystemCode, PricelakeError } from '../errors/errors.js';
import { refuseLink } from '../errors/path-fault.js';
import { TABLE_NAMES } from '../tables/table.js';
import { ignoreMissing, type Lake, PRIVATE_FOLDER, privatePath } from './layout.js';

/** Folders of the lake in which runs write and remove. */
const OWN: readonly string[] = [PRIVATE_FOLDER, ...TABLE_NAMES];
/** Private folders that a run begins with. */
const FOLDERS = ['tmp', 'staging', 'landing', 'work'];

/**
 * Makes sure that what a run writes and removes is in the lake.
 * @throws PricelakeError `lake_invalid` for a symbolic link where the lake has a folder, or a file in the place of one
 */
export async function refuseLinks(lake: Lake): Promise<void> {
  const own = (await list(lake.root)).filter(({ name }) => OWN.includes(name));
  const inside = await list(privatePath(lake));
  const deeper = [...(await list(privatePath(lake, 'landing'))), ...(await list(privatePath(lake, 'webhooks')))];
  const link = [...own, ...inside, ...deeper].find((entry) => entry.isSymbolicLink());
  if (link !== undefined) throw refuseLink(join(link.parentPath, link.name));
  for (const table of own.filter(({ name }) => name !== PRIVATE_FOLDER)) {
    const log = join(table.parentPath, table.name, '_delta_log');
    if ((await lstat(log).catch(ignoreMissing))?.isSymbolicLink() === true) throw refuseLink(log);
  }
  const file = [...own, ...inside.filter(({ name }) => FOLDERS.includes(name))].find((entry) => !entry.isDirectory());
  if (file === undefined) return;
  throw new PricelakeError('lake_invalid', `${join(file.parentPath, file.name)}: it is no folder`, {
    hint: 'Move it away: pricelake makes the folder that belongs there.',
  });
}

async function list(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  });
}
