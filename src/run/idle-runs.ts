import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { PricelakeError } from '../errors/errors.js';
import { explainReadFault } from '../errors/path-fault.js';
import { syncFolder } from '../io/durable.js';
import type { Lake } from '../lake/lake.js';
import { loadTableSchema } from '../tables/schemas.js';
import { RUN_MODES } from '../tables/table.js';
import type { RunRow } from './ledger.js';

/**
 * A run that found nothing to do writes no table. Its row of the ledger waits here for the next run that writes.
 */
function idleRunsPath(lake: Lake): string {
  return path.join(lake.root, '_pricelake', 'idle-runs.ndjson');
}

const ADVICE =
  'Move it away: table runs then lacks the runs without news since the last publication, and nothing else is lost.';

/**
 * Rows that wait, in order.
 * @param published number of the newest run that table `runs` has: rows up to it are there
 * @throws PricelakeError `lake_invalid` on a line that no run has written
 */
export async function readIdleRuns(lake: Lake, published = -1n): Promise<RunRow[]> {
  const file = idleRunsPath(lake);
  const text = (await readFile(file, 'utf8').catch(explainReadFault(file, ADVICE))) ?? '';
  // A crash may have cut the last line: it held the ledger of a run that did nothing.
  const lines = text.split('\n').slice(0, -1);
  return lines
    .map((line, index) => {
      try {
        return parseRow(line);
      } catch (cause) {
        const what = `${file}: line ${index + 1} is not the row of a run`;
        throw new PricelakeError('lake_invalid', what, { hint: ADVICE }, { cause });
      }
    })
    .filter((row) => row.run_number > published);
}

const TYPES: Record<string, z.ZodType> = {
  BIGINT: z
    .string()
    .regex(/^-?\d+$/)
    .transform(BigInt),
  DOUBLE: z.number(),
  BOOLEAN: z.boolean(),
  VARCHAR: z.string(),
  'TIMESTAMP WITH TIME ZONE': z.iso.datetime(),
};

/** Older versions have written fewer columns. */
const rowSchema = z
  .looseObject(
    Object.fromEntries(
      loadTableSchema('runs').columns.map(({ name, type }) => [name, (TYPES[type] ?? z.unknown()).nullish()]),
    ),
  )
  .refine(
    ({ run_number, run_id, mode }) => run_number != null && run_id != null && RUN_MODES.some((one) => one === mode),
  );

const parseRow = (line: string) => rowSchema.parse(JSON.parse(line)) as RunRow;

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
  await syncFolder(path.dirname(idleRunsPath(lake)));
}

/** Forgets the rows: they are in table `runs`. */
export async function clearIdleRuns(lake: Lake): Promise<void> {
  await rm(idleRunsPath(lake), { force: true });
}
