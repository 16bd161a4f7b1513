import { resolve } from 'node:path';
import { isOutOfMemory, PricelakeError } from '../io/errors.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { TABLE_NAMES, type TableState } from '../tables/table.js';
import { describeDamage, findDamagedFile } from './damaged-file.js';
import { readPartial } from './partial.js';
import { readTable } from './read.js';
import { findFault } from './system-faults.js';

/** Matches DuckDB's error messages about missing or damaged Parquet files. */
const DAMAGE =
  /No files found that match the pattern|No magic bytes found|Cannot open file "[^"]*\.parquet|ZSTD Decompression|TProtocolException|\.parquet' too small/i;

/**
 * Runs `work`. If it fails with an error that a damaged file could cause, compares the data files with the checksums in
 * the logs. The caller must hold the lock, so that no other process changes files during the comparison.
 * @throws PricelakeError `lake_invalid` if a file is damaged; otherwise the error of `work`
 */
export async function explainDamage<T>(lakePath: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!mayBeDamage(cause)) throw cause;
    const found = await findDamage({ root: resolve(lakePath) });
    throw found === undefined ? nameDamage(lakePath, cause) : describeDamage(lakePath, found, cause);
  }
}

/** Converts DuckDB's error about a damaged file to PricelakeError `lake_invalid`. Returns other errors unchanged. */
export function nameDamage(lakePath: string, error: unknown): unknown {
  if (!mayBeDamage(error) || !DAMAGE.test(error.message)) return error;
  const [reason = ''] = error.message.split('\n', 1);
  return describeDamage(lakePath, reason.trim(), error);
}

function mayBeDamage(error: unknown): error is Error {
  if (error instanceof PricelakeError || !(error instanceof Error) || error.name === 'AbortError') return false;
  return !isOutOfMemory(error) && findFault(error) === undefined;
}

/** Describes the first missing or damaged data file. Ignores missing files if the folder is marked as partial. */
async function findDamage(lake: Lake): Promise<string | undefined> {
  const isPartial = (await readPartial(lake).catch(() => undefined)) !== undefined;
  for (const table of TABLE_NAMES) {
    const state = await readTable(lake, table).catch((): TableState | undefined => undefined);
    for (const file of state?.files ?? []) {
      const found = await findDamagedFile([file], (path) => tablePath(lake, table, path)).catch(() => undefined);
      if (found !== undefined && !(isPartial && found.endsWith('is missing'))) return `${table}/${found}`;
    }
  }
  return undefined;
}
