import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { hasSystemCode } from '../errors/errors.js';
import type { Lake } from '../lake/lake.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { RunRow } from './ledger.js';

/**
 * A run that found nothing to do writes no table. Its row of the ledger waits here for the next run that writes.
 */
function idleRunsPath(lake: Lake): string {
  return path.join(lake.root, '_pricelake', 'idle-runs.ndjson');
}

/** Rows that wait, in order. */
export async function readIdleRuns(lake: Lake): Promise<RunRow[]> {
  const text = await readFile(idleRunsPath(lake), 'utf8').catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT')) return '';
    throw error;
  });
  const { columns } = loadTableSchema('runs');
  const int64 = new Set(columns.filter(({ type }) => type === 'BIGINT').map(({ name }) => name));
  // A crash may have cut the last line: it held the ledger of a run that did nothing.
  return text
    .split('\n')
    .slice(0, -1)
    .map(
      (line) =>
        JSON.parse(line, (name, value) => (int64.has(name) && value !== null ? BigInt(value) : value)) as RunRow,
    );
}

/** Adds a row, durably. */
export async function addIdleRun(lake: Lake, row: RunRow): Promise<void> {
  const file = await open(idleRunsPath(lake), 'a+');
  try {
    // A line that was cut short must not become the beginning of this one.
    await file.truncate((await file.readFile()).lastIndexOf('\n') + 1);
    await file.appendFile(
      `${JSON.stringify(row, (_name, value) => (typeof value === 'bigint' ? String(value) : value))}\n`,
    );
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Forgets the rows: they are in table `runs`. */
export async function clearIdleRuns(lake: Lake): Promise<void> {
  await rm(idleRunsPath(lake), { force: true });
}
