import type { RelationGraph } from '../sql/graph.js';
import type { Relation } from '../sql/relation.js';
import { code, columnsOf, type Sql, sql } from '../sql/sql.js';
import type { DataFile } from '../tables/table.js';
import { listPartitions } from './table-partitions.js';
import type { TableRows } from './table-rows.js';

/** A change that isn't written yet: the rows to add to a table, and the files to remove from it. */
export interface TableChange {
  /** The rows to add, with the table's columns. Undefined if the change adds no rows. */
  readonly rows: Sql | undefined;
  readonly remove: readonly DataFile[];
  /** For a table that a run commits twice: the rows that only the second commit removes (COMMIT_STEPS in table.ts). */
  readonly leaving?: Sql | undefined;
  /** The maximum number of rows, if known. If it is small, the rows are written in one statement. */
  readonly maxRows?: bigint | undefined;
}

export const KEEP: TableChange = { rows: undefined, remove: [] };

export function append(rows: Sql | undefined, maxRows?: bigint): TableChange {
  return { rows, remove: [], maxRows };
}

export function replaceAll({ files }: { files: readonly DataFile[] }, rows: Sql | undefined): TableChange {
  return { rows, remove: files };
}

export interface Replacement {
  key: string;
  /** The keys of the rows to remove, without duplicates. */
  gone: Relation;
  /** The files that contain rows to remove: rows with a column `filename`. If undefined, all files are searched. */
  places?: Sql;
  added: Sql;
  /** The maximum number of rows to add, if known. */
  maxAdded?: bigint;
  /** True if the smallest file of each partition that gets rows is rewritten too, so that few small files remain. */
  fillsSmall?: boolean;
}

/** New rows are merged into a partition's smallest file if it is smaller than this. Otherwise, they get a new file. */
const SMALL_FILE_BYTES = 64 * 1024 * 1024;

/** Plans a change that replaces rows. It rewrites the files that contain rows to remove. */
export async function replaceRows(
  graph: RelationGraph,
  before: TableRows,
  { key, gone, places, added, maxAdded, fillsSmall = false }: Replacement,
): Promise<TableChange> {
  const search = sql`${before.ofFiles(before.files, { places: true })} SEMI JOIN ${gone} USING (${code(key)})`;
  const touched = await before.listFiles(places ?? search);
  const files = fillsSmall ? [...touched, ...(await findSmallFiles(graph, before, touched, added))] : touched;
  if (files.length === 0) return append(added, maxAdded);
  await before.refuseDamaged(files);
  const stay = sql`SELECT ${columnsOf(before.table)} FROM ${before.ofFiles(files)} ANTI JOIN ${gone} USING (${code(key)})`;
  const maxRows = maxAdded === undefined ? undefined : files.reduce((sum, { rows }) => sum + rows, maxAdded);
  return { rows: sql`${stay} UNION ALL ${added}`, remove: files, maxRows };
}

/** Returns the smallest file of each partition that gets rows, unless a file of the partition is rewritten anyway. */
async function findSmallFiles(
  graph: RelationGraph,
  { files }: TableRows,
  touched: readonly DataFile[],
  added: Sql,
): Promise<DataFile[]> {
  const names = Object.keys(files[0]?.partitionValues ?? {});
  const partitions = await listPartitions(graph, names, added);
  const wanted = new Set(partitions.map((partition) => JSON.stringify(partition.map(({ text }) => text))));
  return groupFiles(files).flatMap((group) => {
    const [smallest] = group.toSorted((a, b) => a.bytes - b.bytes);
    if (smallest === undefined || smallest.bytes >= SMALL_FILE_BYTES) return [];
    const isFree = wanted.has(JSON.stringify(Object.values(smallest.partitionValues)));
    return isFree && !group.some((file) => touched.includes(file)) ? [smallest] : [];
  });
}

export function groupFiles(files: readonly DataFile[]): DataFile[][] {
  const groups = new Map<string, DataFile[]>();
  for (const file of files) {
    const key = JSON.stringify(file.partitionValues);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [file]);
    else group.push(file);
  }
  return [...groups.values()];
}
