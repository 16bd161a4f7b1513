import { readFile, rm, stat } from 'node:fs/promises';
import * as z from 'zod';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { explainReadFault } from '../io/path-fault.js';
import { type Lake, privatePath, tablePath } from '../tables/layout.js';
import type { DataFile, TableName } from '../tables/table.js';
import { writeDurably } from './durable.js';

/** The content of the file that marks a folder as partial. A partial folder lacks data files that are on the remote. */
const partialSchema = z.strictObject({ remote: z.string() });
type Partial = z.infer<typeof partialSchema>;

/** The path of the file that marks a folder as partial. While it exists, missing data files don't count as damage. */
const markerPath = (lake: Lake) => privatePath(lake, 'partial.json');

/** Reads the marker of a partial folder. Returns undefined if there is none. @throws `lake_invalid` if it is damaged */
export async function readPartial(lake: Lake): Promise<Partial | undefined> {
  const file = markerPath(lake);
  const hint = 'Move it away, then run `pricelake lake restore` to fetch the data files that the folder lacks.';
  const text = await readFile(file, 'utf8').catch(explainReadFault(file, hint));
  if (text === undefined) return undefined;
  try {
    return partialSchema.parse(JSON.parse(text));
  } catch (cause) {
    const what = `${file}: this version of pricelake did not write this file`;
    throw new PricelakeError('lake_invalid', what, { hint }, { cause });
  }
}

export async function markPartial(lake: Lake, partial: Partial): Promise<void> {
  await writeDurably(lake, markerPath(lake), `${JSON.stringify(partial)}\n`);
}

/** Removes the marker of a partial folder. Call it when all data files of all tables are present. */
export async function unmarkPartial(lake: Lake): Promise<void> {
  await rm(markerPath(lake), { force: true });
}

/**
 * Ensures that data files are on this disk. Downloads missing files if `lake.provide` is defined, as in a run.
 * @throws PricelakeError `lake_invalid` if a file is only on the remote and `lake.provide` is undefined
 */
export async function requireFiles(lake: Lake, table: TableName, files: readonly DataFile[]): Promise<void> {
  const partial = await readPartial(lake);
  if (partial === undefined) return;
  if (lake.provide !== undefined) return lake.provide(table, files);
  const infos = await Promise.all(files.map(({ path }) => stat(tablePath(lake, table, path)).catch(ignoreMissing)));
  const absent = infos.filter((info) => info === undefined).length;
  if (absent === 0) return;
  const where = tablePath(lake, table);
  throw explainPartial(`${where}: ${absent} of ${files.length} data files are only on ${partial.remote}`, partial);
}

/** Throws if the folder lacks some of the data files. @throws PricelakeError `lake_invalid` */
export async function refusePartial(lake: Lake): Promise<void> {
  const partial = await readPartial(lake);
  if (partial !== undefined)
    throw explainPartial(`${lake.root}: has only some of the data files of ${partial.remote}`, partial);
}

function explainPartial(what: string, { remote }: Partial): PricelakeError {
  const hint = 'Fetch them with `pricelake lake restore`, or read the remote with --remote (`query`, `status`).';
  return new PricelakeError('lake_invalid', what, { hint, remote });
}
