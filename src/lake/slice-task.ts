import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { runSideBySide } from '../io/side-by-side.js';
import type { Database } from '../sql/connection.js';
import { sqlOf } from '../sql/shipment.js';
import type { Sql } from '../sql/sql.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type StagedFile, TABLE_NAMES } from '../tables/table.js';
import type { TaskPaths } from '../workers/task-paths.js';
import { int64, MOST_TASKS, mapOf, refuseRows, type TaskKind, type Workers } from '../workers/workers.js';
import { explainMemory } from './faults.js';
import { nameDataFile } from './file-name.js';
import { checkColumns, type SliceForm, sealFile, writeSlice } from './slice.js';

interface SliceTask {
  /** Statements that make the relations of the select. */
  views: Sql[];
  select: Sql;
  form: SliceForm;
}

const form = ({ folder }: TaskPaths) =>
  z.strictObject({
    table: z.enum(TABLE_NAMES),
    runId: z.string(),
    metadata: z.record(z.string(), z.string()).optional(),
    keepsEmpty: z.boolean().optional(),
    targetBytes: z.number().optional(),
    partitionBy: z.array(z.string()),
    texts: mapOf(z.string(), z.string()),
    folder,
  });

const stagedFile = ({ file }: TaskPaths) =>
  z.strictObject({
    path: z.string(),
    rows: int64,
    bytes: z.number().int().nonnegative(),
    partitionValues: z.record(z.string(), z.string().nullable()),
    stats: z.string(),
    modifiedAt: z.number(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    stagedAt: file,
  });

/** Writing of a slice of a table by a worker. */
export const SLICE: TaskKind<SliceTask, StagedFile[]> = {
  name: 'slice',
  input: (paths) => z.strictObject({ views: z.array(sqlOf(paths)), select: sqlOf(paths), form: form(paths) }),
  output: (paths) => z.array(stagedFile(paths)),
};

/** Does a task of this kind: in a worker. Its files are synced and checked. */
export async function doSlice(db: Database, { views, select, form }: SliceTask): Promise<StagedFile[]> {
  const folder = join(form.folder, randomUUID());
  await mkdir(folder);
  return explainMemory(`${form.table}: writing the rows`, async () => {
    for (const { text } of views) await db.run(text);
    const schema = loadTableSchema(form.table);
    await checkColumns(db, schema, select.text);
    const files = await writeSlice(db, { ...form, folder }, select.text);
    return runSideBySide(1, files, (file) => sealFile(schema, file));
  });
}

/** Has workers write the slices of a table, with the function that writes them here. */
export async function writeSlicesElsewhere(
  workers: Workers,
  views: Sql[],
  form: SliceForm,
  slices: readonly { select: Sql; rows: bigint | undefined }[],
): Promise<StagedFile[]> {
  const written = await runSideBySide(MOST_TASKS, slices, ({ select, rows }) =>
    workers.do(SLICE, { views, select, form }, async (files) => refuseSlice(files, rows)),
  );
  return written.flat();
}

function refuseSlice(files: readonly StagedFile[], rows: bigint | undefined): string | undefined {
  const odd = files.find(
    ({ path, partitionValues, stagedAt }) => path !== nameDataFile(partitionValues, basename(stagedAt)),
  );
  if (odd !== undefined) return `${odd.stagedAt} comes to ${odd.path}`;
  return refuseRows(files, rows);
}
