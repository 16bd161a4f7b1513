import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { hasSystemCode } from '../errors/errors.js';
import type { DataFile, TableName } from '../tables/table.js';

/** An opened lake. */
export interface Lake {
  /** Absolute path of its folder. */
  root: string;
  /** Fetches data files of a table that are on its remote only; where a run holds the remote. */
  bring?: ((table: TableName, files: readonly DataFile[]) => Promise<void>) | undefined;
}

/** Private folder of a lake: landing, lock, staging. Nothing in it is part of a table. */
export const PRIVATE_FOLDER = '_pricelake';

/** `<lake>/_pricelake/<parts>`. */
export function privatePath(lake: Lake, ...parts: string[]): string {
  return join(lake.root, PRIVATE_FOLDER, ...parts);
}

/** `<lake>/<table>/<parts>`. */
export function tablePath(lake: Lake, table: TableName, ...parts: string[]): string {
  return join(lake.root, table, ...parts);
}

/** A new name for a file until it is renamed or linked into place: same file system, read by no one. */
export function temporaryPath(lake: Lake, name: string): string {
  return privatePath(lake, 'tmp', `${randomUUID()}-${basename(name)}`);
}

/** For `.catch`: a missing file is undefined, anything else is thrown. */
export function ignoreMissing(error: unknown): undefined {
  if (hasSystemCode(error, 'ENOENT')) return undefined;
  throw error;
}
