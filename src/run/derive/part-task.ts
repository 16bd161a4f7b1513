import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Database } from '../../sql/connection.js';
import { quoteLiteral } from '../../sql/quote.js';
import { sqlOf } from '../../sql/shipment.js';
import type { Sql } from '../../sql/sql.js';
import { int64, type TaskKind } from '../../workers/workers.js';

/** Rows to divide by their column `part`. */
interface PartTask {
  /** Statements that make the relations of the select. */
  views: Sql[];
  select: Sql;
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

/** Division of rows into parts by a worker. A part without rows has no file. Other workers read the files, not the run. */
export const PART: TaskKind<PartTask, PartFile[]> = {
  name: 'part',
  input: (paths) => z.strictObject({ views: z.array(sqlOf(paths)), select: sqlOf(paths), folder: paths.folder }),
  output: ({ leftFile }) => z.array(z.strictObject({ part: count, path: leftFile, rows: int64, bytes: count })),
};

/** The same, of files that the run itself reads. */
export const ROWS: typeof PART = {
  ...PART,
  name: 'rows',
  output: ({ file }) => z.array(z.strictObject({ part: count, path: file, rows: int64, bytes: count })),
};

/** Writes the rows of each part to files of its own. */
export async function dividePart(db: Database, { views, select, folder }: PartTask): Promise<PartFile[]> {
  const own = path.join(folder, randomUUID());
  await mkdir(own);
  for (const { text } of views) await db.run(text);
  const written = await db.rows(
    `COPY (${select.text}) TO ${quoteLiteral(own)} (FORMAT parquet, PARTITION_BY (part), RETURN_STATS true)`,
  );
  return written.map(({ filename, count: rows, file_size_bytes: bytes }) => ({
    part: Number(path.basename(path.dirname(String(filename))).slice('part='.length)),
    path: String(filename),
    rows: BigInt(String(rows)),
    bytes: Number(bytes),
  }));
}
