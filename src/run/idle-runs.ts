import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { hasSystemCode } from '../errors/errors.js';
import type { Lake } from '../lake/lake.js';
import type { RunRow } from './ledger.js';

/**
 * A run that found nothing to do writes no table. Its row of the ledger waits here for the next run that writes.
 */
function idleRunsPath(lake: Lake): string {
  return path.join(lake.root, '_pricelake', 'idle-runs.ndjson');
}

const INT64_FIELDS = new Set<keyof RunRow>([
  'run_number',
  'tries',
  'cursor_from',
  'cursor_to',
  'listing_unknown',
  'stale_items',
  'calls',
  'calls_refused',
  'export_rows',
  'export_rows_landed',
  'export_rows_lost',
  'overage_blocks',
  'usage_calls',
  'usage_export_rows',
  'bytes_received',
  'received',
  'written',
  'rejected',
  'deduplicated',
  'differences',
  'missed',
  'gone',
  'sampled',
  'sample_mismatches',
  'products_compared',
  'products_different',
  'facets_compared',
  'facets_different',
  'items',
]);

/** Rows that wait, in order. */
export async function readIdleRuns(lake: Lake): Promise<RunRow[]> {
  const text = await readFile(idleRunsPath(lake), 'utf8').catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT')) return '';
    throw error;
  });
  // A crash may have cut the last line: it held the ledger of a run that did nothing.
  return text
    .split('\n')
    .slice(0, -1)
    .map(
      (line) =>
        JSON.parse(line, (name, value) =>
          INT64_FIELDS.has(name as keyof RunRow) && value !== null ? BigInt(value) : value,
        ) as RunRow,
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

/** Forgets the rows: they stand in table `runs`. */
export async function clearIdleRuns(lake: Lake): Promise<void> {
  await rm(idleRunsPath(lake), { force: true });
}
