import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Database } from '../sql/connection.js';
import { ITEM_VALUE_NAMES } from '../tables/item-names.js';
import type { TaskPaths } from '../workers/task-paths.js';
import { mapOf, setOf, type TaskKind, type Workers } from '../workers/workers.js';
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
  isOpen: z.boolean(),
});

const source = ({ file }: TaskPaths) =>
  z.strictObject({
    path: file,
    readAt: z.string(),
    rows: count,
    isOfOneSite: z.boolean().optional(),
    csv: z.strictObject({ columns: z.array(z.string()), quotesNulls: z.boolean() }).optional(),
  });

const typed = ({ file, path }: TaskPaths) =>
  z.strictObject({
    typedPath: file,
    badPath: file.optional(),
    part: z.string(),
    origin,
    rows: count,
    rejected: count,
    sources: z.array(path),
  });

/** A task, and the folder in which each attempt makes one of its own. */
interface SentTask {
  task: TypingTask;
  folder: string;
}

/** Typing of landed files by a worker. */
export const TYPING: TaskKind<SentTask, TypedFile[]> = {
  name: 'type',
  input: (paths) =>
    z.strictObject({
      task: z.strictObject({
        origin,
        sources: z.array(source(paths)).min(1),
        shape: shape.optional(),
        mapping: z.record(z.string(), z.string()),
        runId: z.string(),
      }),
      folder: paths.folder,
    }),
  output: (paths) => z.array(typed(paths)),
};

/** Does a task of this kind: in a worker. */
export async function doTyping(db: Database, { task, folder }: SentTask): Promise<TypedFile[]> {
  const own = join(folder, randomUUID());
  await mkdir(own);
  return typeFiles(db, await quoteTask(db, task, own));
}

/** Has workers type landed files, with the functions that type them here. */
export async function typeElsewhere(workers: Workers, task: TypingTask, workFolder: string): Promise<TypedFile[]> {
  const folder = join(workFolder, 'typed');
  await mkdir(folder, { recursive: true });
  return workers.do(TYPING, { task, folder }, async (files) => refuseTyped(files, task));
}

/** Says why these can't be the typed rows of the task's files. */
function refuseTyped(files: readonly TypedFile[], { sources }: TypingTask): string | undefined {
  const nameAll = (names: readonly string[]) => [...names].sort().join('\n');
  const isWhole = nameAll(files.flatMap((file) => file.sources)) === nameAll(sources.map(({ path }) => path));
  if (!isWhole) return 'it is of other files';
  const count = (list: readonly { rows: number }[]) => list.reduce((sum, { rows }) => sum + rows, 0);
  const [typed, landed] = [count(files), count(sources)];
  return typed === landed ? undefined : `it has ${typed} rows, and ${landed} landed`;
}
