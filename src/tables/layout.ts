import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { PricelakeError } from '../io/errors.js';
import { findPathFault, quotePath } from '../io/inner-path.js';
import type { DataFile, TableName } from './table.js';

export interface Lake {
  /** The absolute path of the lake's folder. */
  root: string;
  /** Makes sure that data files of a table are on this disk, before they are read. Undefined if all files are. */
  provide?: ((table: TableName, files: readonly DataFile[]) => Promise<void>) | undefined;
}

/** The lake's private folder for landed files, the lock and staging. It contains no data of a table. */
export const PRIVATE_FOLDER = '_pricelake';

/** The maximum size of a log entry, in bytes. A JavaScript string can't hold much more than twice as much. */
export const MAX_LOG_BYTES = 256 * 1024 * 1024;

/** Returns `<lake>/_pricelake/<parts>`. */
export function privatePath(lake: Lake, ...parts: string[]): string {
  return innerPath(lake, PRIVATE_FOLDER, ...parts);
}

/** Returns `<lake>/<table>/<parts>`. */
export function tablePath(lake: Lake, table: TableName, ...parts: string[]): string {
  return innerPath(lake, table, ...parts);
}

/** Returns `<lake>/<parts>`. @throws PricelakeError `lake_invalid` for a part that leaves the lake */
export function innerPath({ root }: Lake, ...parts: string[]): string {
  for (const part of parts) {
    const fault = findPathFault(part);
    if (fault !== undefined) throw new PricelakeError('lake_invalid', `${root}: the path ${quotePath(part)} ${fault}`);
  }
  return join(root, ...parts);
}

/** Returns a new path for a file that will be renamed or linked into place. It is on the lake's file system. */
export function temporaryPath(lake: Lake, name: string): string {
  return privatePath(lake, 'tmp', `${randomUUID()}-${basename(name)}`);
}
