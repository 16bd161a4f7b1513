import { randomUUID } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { Database } from '../../sql/connection.js';
import { quoteLiteral } from '../../sql/quote.js';
import { ignoreMissing, isBelow } from '../../tables/layout.js';
import { mapOf, refuseAnswer, type TaskKind, type Workers } from '../../workers/workers.js';

/** Rows to divide by their column `part`. */
interface PartTask {
  /** Statements that make the relations of the select. */
  views: string[];
  select: string;
  folder: string;
}

/** Parts, and the files of each. A part without rows has none. */
export type PartFiles = Map<number, string[]>;

/** Division of rows into parts of the products by a worker. */
export const PART: TaskKind<PartTask, PartFiles> = {
  name: 'part',
  input: z.strictObject({ views: z.array(z.string()), select: z.string(), folder: z.string() }),
  output: mapOf(z.number().int().nonnegative(), z.array(z.string())),
};

/** Writes the rows of each part to files of its own. */
export async function dividePart(db: Database, { views, select, folder }: PartTask): Promise<PartFiles> {
  const own = path.join(folder, randomUUID());
  await mkdir(own, { recursive: true });
  for (const view of views) await db.run(view);
  await db.run(`COPY (${select}) TO ${quoteLiteral(own)} (FORMAT parquet, PARTITION_BY (part))`);
  const files: PartFiles = new Map();
  for (const name of (await readdir(own).catch(ignoreMissing)) ?? []) {
    const written = await readdir(path.join(own, name));
    files.set(
      Number(name.slice('part='.length)),
      written.map((file) => path.join(own, name, file)),
    );
  }
  return files;
}

/** Has a worker divide rows, with the function that divides them here. */
export async function divideElsewhere(workers: Workers, task: PartTask): Promise<PartFiles> {
  const parts = await workers.do(PART, task);
  const paths = [...parts.values()].flat();
  if (!paths.every((file) => isBelow(task.folder, file))) throw refuseAnswer(PART, paths.join());
  return parts;
}

/** The parts of all divisions together. */
export function joinParts(divided: readonly PartFiles[]): PartFiles {
  const all: PartFiles = new Map();
  for (const parts of divided) {
    for (const [part, files] of parts) all.set(part, [...(all.get(part) ?? []), ...files]);
  }
  return all;
}
