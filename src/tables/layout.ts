import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import { PricelakeError } from '../io/errors.js';
import { findPathFault, quotePath } from '../io/inner-path.js';
import type { DataFile, TableName } from './table.js';

export interface Lake {
  /** The absolute path of the lake's folder. */
  root: string;
  /** Downloads data files that aren't on this disk, before they are read. Undefined if this disk has all files. */
  provide?: ((table: TableName, files: readonly DataFile[]) => Promise<void>) | undefined;
}

/** The lake's folder for downloaded files, the lock and unfinished files. It contains no published table files. */
export const PRIVATE_FOLDER = '_pricelake';

/** The maximum size of a log entry in bytes. An entry is read into one string, which can be about twice as long. */
export const MAX_LOG_BYTES = 256 * 1024 * 1024;

/** Returns `<lake>/_pricelake/<parts>`. */
export function privatePath(lake: Lake, ...parts: string[]): string {
  return innerPath(lake, PRIVATE_FOLDER, ...parts);
}

/** Returns `<lake>/<table>/<parts>`. */
export function tablePath(lake: Lake, table: TableName, ...parts: string[]): string {
  return innerPath(lake, table, ...parts);
}

/** Returns `<lake>/<parts>`. @throws PricelakeError `lake_invalid` if a part leads out of the lake */
export function innerPath({ root }: Lake, ...parts: string[]): string {
  for (const part of parts) {
    const fault = findPathFault(part);
    if (fault !== undefined) throw new PricelakeError('lake_invalid', `${root}: the path ${quotePath(part)} ${fault}`);
  }
  return join(root, ...parts);
}

/** Returns a new path in the lake. A file with this path can be moved or linked to its final path in one step. */
export function temporaryPath(lake: Lake, name: string): string {
  return privatePath(lake, 'tmp', `${randomUUID()}-${basename(name)}`);
}
