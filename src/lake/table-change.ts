import type { RelationGraph } from '../sql/graph.js';
import type { Relation } from '../sql/relation.js';
import { code, columnsOf, type Sql, sql } from '../sql/sql.js';
import type { DataFile } from '../tables/table.js';
import { listPartitions } from './table-partitions.js';
import type { TableRows } from './table-rows.js';

/** The rows to add to a table, and the files that they replace. Nothing is written yet. */
export interface TableChange {
  /** The rows to write, with the table's columns; undefined if there are none. */
  readonly rows: Sql | undefined;
  readonly remove: readonly DataFile[];
  /** The most rows that there can be, if known. Few rows need no plan of their files. */
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
  /** The distinct keys of the removed rows. */
  gone: Relation;
  /** Rows whose column `filename` names the files with such rows. By default, the table is searched. */
  places?: Sql;
  added: Sql;
  /** Maximum number of added rows, if known. */
  maxAdded?: bigint;
  /** True to rewrite the smallest file of a partition together with its new rows, so that few files stay small. */
  fillsSmall?: boolean;
}

/** Files below this size take in new rows; beside larger ones, a new file is added. */
const SMALL_FILE_BYTES = 64 * 1024 * 1024;

/** Replaces removed rows with new ones. Rewrites the files that contain removed rows. */
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

/** The smallest file of each partition that gets rows and in which no file is replaced anyway. */
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

/** The files of each partition. */
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
