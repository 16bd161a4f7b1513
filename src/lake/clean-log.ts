import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableName } from '../tables/table.js';
import { ignoreMissing, type Lake, tablePath } from './layout.js';

/** Delta's default of `delta.logRetentionDuration`. */
const LOG_RETENTION_MS = 30 * 86_400_000;
/** Of versions whose superseded files are gone, so many stay all the same: a reader may be behind. */
const KEPT_VERSIONS = 100n;

/**
 * Deletes log entries and checkpoints before the newest checkpoint that is 30 days old (protocol, "Metadata
 * Cleanup"), or 100 versions behind, and at least as old as superseded files get: what is left still gives the table's
 * state and every version whose files are there, and the log stays small however often a lake is synced.
 */
export async function cleanLog(lake: Lake, table: TableName, at: Date, retentionMs: number): Promise<void> {
  const folder = tablePath(lake, table, '_delta_log');
  const names = (await readdir(folder)).filter((name) => /^\d{20}\./.test(name)).sort();
  const newest = BigInt(names.at(-1)?.slice(0, 20) ?? 0n);
  const keepFrom = await findOldCheckpoint(folder, names, (version, committedAt) => {
    const ageMs = at.getTime() - committedAt;
    return ageMs >= retentionMs && (ageMs >= LOG_RETENTION_MS || newest - version >= KEPT_VERSIONS);
  });
  // Names of that version itself are longer than it, and so behind it.
  for (const name of names.filter((name) => name < keepFrom)) await rm(join(folder, name), { force: true });
}

/** Version (20 digits) of the newest checkpoint that `isOld`; empty where there is none. */
async function findOldCheckpoint(
  folder: string,
  names: string[],
  isOld: (version: bigint, committedAt: number) => boolean,
): Promise<string> {
  for (const name of names.filter((name) => name.slice(20) === '.checkpoint.parquet').reverse()) {
    const version = name.slice(0, 20);
    if (isOld(BigInt(version), await readCommitTime(join(folder, `${version}.json`)))) return version;
  }
  return '';
}

/**
 * `commitInfo.timestamp` of a log entry: unlike the file's own time it survives a copy of the lake. NaN, which is no age,
 * where the entry is gone or does not say.
 */
async function readCommitTime(path: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  const line = text?.split('\n').find((line) => line.startsWith('{"commitInfo"'));
  if (line === undefined) return Number.NaN;
  return (JSON.parse(line) as { commitInfo: { timestamp?: number } }).commitInfo.timestamp ?? Number.NaN;
}
