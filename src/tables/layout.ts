import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { PricelakeError } from '../io/errors.js';
import { findPathFault, quotePath } from '../io/inner-path.js';
import type { DataFile, TableName } from './table.js';

export interface Lake {
  /** The absolute path of its folder. */
  root: string;
  /** Makes sure that data files of a table are on this disk. Call it before they are read. Undefined where all are. */
  provide?: ((table: TableName, files: readonly DataFile[]) => Promise<void>) | undefined;
}

/** The private folder of a lake: landing, lock, staging. Nothing in it belongs to a table. */
export const PRIVATE_FOLDER = '_pricelake';

/** The largest log entry that is read. A JavaScript string can't hold much more than twice as much. */
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

/** A new path for a file that is later renamed or linked into place: on the same file system, and read by no one. */
export function temporaryPath(lake: Lake, name: string): string {
  return privatePath(lake, 'tmp', `${randomUUID()}-${basename(name)}`);
}
