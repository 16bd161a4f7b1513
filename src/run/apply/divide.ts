import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { explainSystemFault } from '../../lake/faults.js';
import type { RelationGraph } from '../../sql/graph.js';
import { quoteLiteral } from '../../sql/quote.js';
import { readFiles, type Sql, sql } from '../../sql/sql.js';

/** A file of the rows of one part. A part without rows has no file. */
export interface PartFile {
  part: number;
  path: string;
}

/** Divides rows by their column `part` into files, in a folder of their own. */
export async function divideRows(graph: RelationGraph, select: Sql, folder: string): Promise<PartFile[]> {
  await graph.ready(select);
  const own = path.join(folder, randomUUID());
  await mkdir(own, { recursive: true });
  const copy = `COPY (${select.text}) TO ${quoteLiteral(own)} (FORMAT parquet, PARTITION_BY (part), RETURN_STATS true)`;
  const written = await explainSystemFault(folder, () => graph.db.rows(copy));
  return written.map(({ filename }) => ({
    part: Number(path.basename(path.dirname(String(filename))).slice('part='.length)),
    path: String(filename),
  }));
}

export const filesOf = (files: readonly PartFile[], part: number) => files.filter((file) => file.part === part);

/** The rows of files that a division wrote. */
export function readParts(files: readonly PartFile[]): Sql {
  const paths = files.map(({ path }) => path);
  return sql`SELECT * FROM ${readFiles('read_parquet', paths, ['hive_partitioning = false'])}`;
}
