import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { refuseFiles } from '../../lake/refuse-files.js';
import type { Database } from '../../sql/connection.js';
import { quoteLiteral } from '../../sql/quote.js';
import { int64, type TaskKind } from '../../workers/workers.js';

/** Rows to divide by their column `part`. */
interface PartTask {
  /** Statements that make the relations of the select. */
  views: string[];
  select: string;
  /** The folder in which each attempt makes one of its own. */
  folder: string;
}

/** A file of the rows of one part. */
export interface PartFile {
  part: number;
  path: string;
  rows: bigint;
  bytes: number;
}

const count = z.number().int().nonnegative();

/** Division of rows into parts by a worker. A part without rows has no file. */
export const PART: TaskKind<PartTask, PartFile[]> = {
  name: 'part',
  input: z.strictObject({ views: z.array(z.string()), select: z.string(), folder: z.string() }),
  output: z.array(z.strictObject({ part: count, path: z.string(), rows: int64, bytes: count })),
};

/** Writes the rows of each part to files of its own. */
export async function dividePart(db: Database, { views, select, folder }: PartTask): Promise<PartFile[]> {
  const own = path.join(folder, randomUUID());
  await mkdir(own);
  for (const view of views) await db.run(view);
  const written = await db.rows(
    `COPY (${select}) TO ${quoteLiteral(own)} (FORMAT parquet, PARTITION_BY (part), RETURN_STATS true)`,
  );
  return written.map(({ filename, count: rows, file_size_bytes: bytes }) => ({
    part: Number(path.basename(path.dirname(String(filename))).slice('part='.length)),
    path: String(filename),
    rows: BigInt(String(rows)),
    bytes: Number(bytes),
  }));
}

/** Says why these can't be the parts of some rows. `count` tells how many there are, where the run can know it. */
export async function refuseParts(
  files: readonly PartFile[],
  { folder, count }: { folder: string; count: (() => Promise<bigint>) | undefined },
): Promise<string | undefined> {
  return refuseFiles(files, { folder, rows: await count?.() });
}
