import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Database } from '../sql/connection.js';
import { ITEM_VALUE_NAMES } from '../tables/item-names.js';
import { isBelow } from '../tables/layout.js';
import { mapOf, refuseAnswer, setOf, type TaskKind, type Workers } from '../workers/workers.js';
import { CHANGE_ORIGINS, quoteTask, type TypedFile, type TypingTask, typeFiles } from './type-file.js';

const origin = z.enum(['export', 'page', 'reread', ...CHANGE_ORIGINS]);
const itemValue = z.enum(ITEM_VALUE_NAMES);
const count = z.number().int().nonnegative();

const shape = z.strictObject({
  fields: mapOf(z.string(), z.string()),
  values: mapOf(itemValue, z.string()),
  texts: setOf(itemValue),
  unknown: mapOf(z.string(), z.string()),
  objects: setOf(z.string()),
});

const source = z.strictObject({
  path: z.string(),
  readAt: z.string(),
  rows: count,
  isOfOneSite: z.boolean().optional(),
  columns: z.array(z.string()).optional(),
});

const typed = z.strictObject({
  typedPath: z.string(),
  badPath: z.string().optional(),
  part: z.string(),
  origin,
  rows: count,
  rejected: count,
  sources: z.array(z.string()),
});

/** A task, and the folder in which each attempt makes one of its own. */
interface SentTask {
  task: TypingTask;
  folder: string;
}

/** Typing of landed files by a worker. */
export const TYPING: TaskKind<SentTask, TypedFile[]> = {
  name: 'type',
  input: z.strictObject({
    task: z.strictObject({
      origin,
      sources: z.array(source).min(1),
      shape: shape.optional(),
      mapping: z.record(z.string(), z.string()),
      runId: z.string(),
    }),
    folder: z.string(),
  }),
  output: z.array(typed),
};

/** Does a task of this kind: in a worker. */
export async function doTyping(db: Database, { task, folder }: SentTask): Promise<TypedFile[]> {
  const own = join(folder, randomUUID());
  await mkdir(own, { recursive: true });
  return typeFiles(db, await quoteTask(db, task, own));
}

/** Has workers type landed files, with the functions that type them here. */
export async function typeElsewhere(workers: Workers, task: TypingTask, workFolder: string): Promise<TypedFile[]> {
  const folder = join(workFolder, 'typed');
  const files = await workers.do(TYPING, { task, folder });
  const paths = files.flatMap(({ typedPath, badPath = typedPath }) => [typedPath, badPath]);
  const isOf = (names: readonly string[]) => [...names].sort().join('\n');
  const isWhole = isOf(files.flatMap(({ sources }) => sources)) === isOf(task.sources.map(({ path }) => path));
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  const isCounted = rows === task.sources.reduce((sum, one) => sum + one.rows, 0);
  if (!isWhole || !isCounted || !paths.every((path) => isBelow(folder, path))) throw refuseAnswer(TYPING, paths.join());
  return files;
}
