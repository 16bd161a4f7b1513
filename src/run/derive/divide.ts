import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { runSideBySide } from '../../io/side-by-side.js';
import { explainSystemFault } from '../../lake/faults.js';
import { countRows, groupBySize } from '../../lake/slices.js';
import type { TableRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, readFiles, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import type { TableName } from '../../tables/table.js';
import { MOST_TASKS, refuseRows, type Workers } from '../../workers/workers.js';
import { dividePart, PART, type PartFile, ROWS } from './part-task.js';

/** Workers, and what makes relations readable to them. */
export interface Elsewhere {
  workers: Workers;
  ship: (sql: Sql) => Promise<Sql[]>;
}

/** The rows of a table, and of some of its files. */
export type DividedTable = Pick<TableRows, 'table' | 'rows' | 'files' | 'ofFiles'>;

/** Rows that a worker takes at once. */
export const WORKER_ROWS = 300_000n;

/** Parts that rows go to at most: a worker holds a megabyte for each. */
const MOST_PARTS = 128;

/** Into which parts rows go, and where their files are written. */
export interface Division {
  /** A part has all rows with a value of this column; rows without one are in none. */
  key: 'product_id' | 'item_id';
  count: number;
  /** Only the columns that these queries name are kept. */
  queries: readonly string[];
  folder: string;
}

/** Selects rows with the number of their part. */
export function selectParts(table: TableName, source: Sql, { key, count, queries }: Division): Sql {
  const columns = code(selectNamedColumns(table, queries));
  return sql`SELECT ${columns}, hash(${code(key)}) % ${count} AS part FROM ${source} WHERE ${code(key)} IS NOT NULL`;
}

/** Has workers divide a table, a group of its files each. */
export function divideTable(
  graph: RelationGraph,
  elsewhere: Elsewhere,
  table: DividedTable,
  division: Division,
): Promise<PartFile[]> {
  const sources = groupBySize(table.files, WORKER_ROWS).map((files) => table.ofFiles(files));
  return divideSources(graph, elsewhere, { table: table.table, sources }, division);
}

/** Has workers divide rows of a table, each source by one. */
export function divideSources(
  graph: RelationGraph,
  elsewhere: Elsewhere,
  { table, sources }: { table: TableName; sources: readonly Sql[] },
  division: Division,
): Promise<PartFile[]> {
  const { key, folder } = division;
  const pieces = sources.map((source) => {
    const count = async () => {
      const row = await graph.row(sql`SELECT count(${code(key)}) AS n FROM ${source}`);
      return row?.n as bigint;
    };
    return { select: selectParts(table, source, division), count };
  });
  return divideRows(elsewhere, pieces, folder);
}

/** Divides rows by their column `part`, here. */
export async function divideHere(graph: RelationGraph, select: Sql, folder: string): Promise<PartFile[]> {
  await graph.ready(select);
  await mkdir(folder, { recursive: true });
  return explainSystemFault(folder, () => dividePart(graph.db, { views: [], select, folder }));
}

/**
 * Has workers divide rows by their column `part`. `count` tells how many a piece has, where the run can know it.
 * @param kind says who reads the files: other workers, or the run
 */
export async function divideRows(
  { workers, ship }: Elsewhere,
  pieces: readonly { select: Sql; count?: () => Promise<bigint> }[],
  folder: string,
  kind: typeof PART = PART,
): Promise<PartFile[]> {
  await mkdir(folder, { recursive: true });
  const divided = await runSideBySide(MOST_TASKS, pieces, async ({ select, count }) => {
    const task = { views: await ship(select), select, folder };
    return workers.do(kind, task, async (files) => refuseRows(files, await count?.()));
  });
  return divided.flat();
}

/** Rows that need a whole table: one worker makes them if there are enough changes for a cluster to pay. */
export async function makeRows(
  { graph, elsewhere, workFolder }: { graph: RelationGraph; elsewhere: Elsewhere | undefined; workFolder: string },
  { label, select, changes }: { label: string; select: Sql; changes: bigint },
): Promise<Relation> {
  if (elsewhere?.workers.pays(changes) !== true) return graph.table(label, select);
  const whole = { select: sql`SELECT *, 0 AS part FROM (${select})` };
  const files = await divideRows(elsewhere, [whole], path.join(workFolder, 'made', label), ROWS);
  if (files.length === 0) return graph.table(label, sql`SELECT * FROM (${select}) WHERE false`);
  return graph.rowsOf(label, readParts(files), countRows(files));
}

/** Parts that so many rows make, if a worker takes each. */
export const countParts = (rows: bigint) => Math.min(Math.max(2, Number(rows / WORKER_ROWS)), MOST_PARTS);

export const filesOf = (files: readonly PartFile[], part: number) => files.filter((file) => file.part === part);

/** The rows of files that a division wrote. */
export function readParts(files: readonly PartFile[]): Sql {
  const paths = files.map(({ path }) => path);
  return sql`SELECT * FROM ${readFiles('read_parquet', paths, ['hive_partitioning = false'])}`;
}
