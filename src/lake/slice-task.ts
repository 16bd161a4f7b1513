import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { runSideBySide } from '../io/side-by-side.js';
import type { Database } from '../sql/connection.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type StagedFile, TABLE_NAMES } from '../tables/table.js';
import { int64, MOST_TASKS, mapOf, type TaskKind, type Workers } from '../workers/workers.js';
import { explainMemory } from './faults.js';
import { nameDataFile } from './file-name.js';
import { refuseFiles } from './refuse-files.js';
import { type SliceForm, sealFile, writeSlice } from './slice.js';
import type { Slice } from './slices.js';

interface SliceTask {
  /** Statements that make the relations of the select. */
  views: string[];
  select: string;
  form: SliceForm;
}

const form = z.strictObject({
  table: z.enum(TABLE_NAMES),
  runId: z.string(),
  metadata: z.record(z.string(), z.string()).optional(),
  keepsEmpty: z.boolean().optional(),
  targetBytes: z.number().optional(),
  partitionBy: z.array(z.string()),
  texts: mapOf(z.string(), z.string()),
  folder: z.string(),
});

const stagedFile = z.strictObject({
  path: z.string(),
  rows: int64,
  bytes: z.number().int().nonnegative(),
  partitionValues: z.record(z.string(), z.string().nullable()),
  stats: z.string(),
  modifiedAt: z.number(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  stagedAt: z.string(),
});

/** Writing of a slice of a table by a worker. */
export const SLICE: TaskKind<SliceTask, StagedFile[]> = {
  name: 'slice',
  input: z.strictObject({ views: z.array(z.string()), select: z.string(), form }),
  output: z.array(stagedFile),
};

/** Does a task of this kind: in a worker. Its files are synced and checked. */
export async function doSlice(db: Database, { views, select, form }: SliceTask): Promise<StagedFile[]> {
  const folder = join(form.folder, randomUUID());
  await mkdir(folder);
  return explainMemory(`${form.table}: writing the rows`, async () => {
    for (const view of views) await db.run(view);
    const files = await writeSlice(db, { ...form, folder }, select);
    const schema = loadTableSchema(form.table);
    return runSideBySide(1, files, (file) => sealFile(schema, file));
  });
}

/** Has workers write the slices of a table, with the function that writes them here. */
export async function writeSlicesElsewhere(
  workers: Workers,
  views: string[],
  form: SliceForm,
  slices: readonly Slice[],
): Promise<StagedFile[]> {
  const written = await runSideBySide(MOST_TASKS, slices, ({ select, rows }) =>
    workers.do(SLICE, { views, select, form }, (files) => refuseSlice(files, { folder: form.folder, rows })),
  );
  return written.flat();
}

/** A commit names only what this machine sees as the worker has told it. */
async function refuseSlice(files: readonly StagedFile[], known: { folder: string; rows: bigint | undefined }) {
  const odd = files.find(
    ({ path, partitionValues, stagedAt }) => path !== nameDataFile(partitionValues, basename(stagedAt)),
  );
  if (odd !== undefined) return `${odd.stagedAt} comes to ${odd.path}`;
  return refuseFiles(
    files.map(({ stagedAt, rows, bytes }) => ({ path: stagedAt, rows, bytes })),
    known,
  );
}
