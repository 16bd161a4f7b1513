import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { findPathFault, quotePath } from '../io/inner-path.js';
import type { DataFile, TableName } from './table.js';

/** An opened lake. */
export interface Lake {
  /** Absolute path of its folder. */
  root: string;
  /** Fetches data files of a table that are on its remote only; where a run holds the remote. */
  bring?: ((table: TableName, files: readonly DataFile[]) => Promise<void>) | undefined;
}

/** Private folder of a lake: landing, lock, staging. Nothing in it is part of a table. */
export const PRIVATE_FOLDER = '_pricelake';

/** The greatest log entry that is read: a text of JavaScript has room for it, and for no more than twice as much. */
export const MAX_LOG_BYTES = 256 * 1024 * 1024;

/** `<lake>/_pricelake/<parts>`. */
export function privatePath(lake: Lake, ...parts: string[]): string {
  return innerPath(lake, PRIVATE_FOLDER, ...parts);
}

/** `<lake>/<table>/<parts>`. */
export function tablePath(lake: Lake, table: TableName, ...parts: string[]): string {
  return innerPath(lake, table, ...parts);
}

/** `<lake>/<parts>`. @throws PricelakeError `lake_invalid` for a part that leaves the lake */
export function innerPath({ root }: Lake, ...parts: string[]): string {
  for (const part of parts) {
    const fault = findPathFault(part);
    if (fault !== undefined) throw new PricelakeError('lake_invalid', `${root}: the path ${quotePath(part)} ${fault}`);
  }
  return join(root, ...parts);
}

/** A new name for a file until it is renamed or linked into place: same file system, read by no one. */
export function temporaryPath(lake: Lake, name: string): string {
  return privatePath(lake, 'tmp', `${randomUUID()}-${basename(name)}`);
}

/** Absolute paths of all files below a folder. Empty if the folder is missing. */
export async function listFilesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(ignoreMissing);
  return (entries ?? []).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
