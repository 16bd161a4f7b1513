import { stat } from 'node:fs/promises';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { type Lake, tablePath } from '../tables/layout.js';
import type { TableName } from '../tables/table.js';
import { hashFile } from './data-file.js';

/**
 * Compares files with their checksums. Call it before copying rows to new files, whose checksums would hide the damage.
 * @throws PricelakeError `lake_invalid` that names the first damaged file
 */
export async function refuseDamagedFiles(lake: Lake, table: TableName, files: readonly KeptFile[]): Promise<void> {
  const found = await findDamagedFile(files, (path) => tablePath(lake, table, path));
  if (found !== undefined) throw describeDamage(lake.root, `${table}/${found}`);
}

export function describeDamage(lakePath: string, reason: string, cause?: Error): PricelakeError {
  return new PricelakeError(
    'lake_invalid',
    `${lakePath}: a data file is missing or damaged: ${reason}`,
    {
      hint: '`pricelake verify` lists all damaged files; `pricelake lake rebuild` rebuilds the tables from the saved raw data.',
    },
    { cause },
  );
}

export interface KeptFile {
  /** A path that `locate` converts to an absolute path. */
  path: string;
  bytes: number;
  sha256?: string | undefined;
}

/** Describes the first missing or damaged file, or returns undefined if all files are intact. */
export async function findDamagedFile(
  files: readonly KeptFile[],
  locate: (path: string) => string,
): Promise<string | undefined> {
  for (const { path, bytes, sha256 } of files) {
    const info = await stat(locate(path)).catch(ignoreMissing);
    if (info === undefined) return `${path} is missing`;
    if (info.size !== bytes) return `${path} has ${info.size} bytes, not ${bytes}`;
    if (sha256 !== undefined && (await hashFile(locate(path))) !== sha256) return `${path} has a different checksum`;
  }
  return undefined;
}
