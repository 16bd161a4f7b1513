import { mkdir } from 'node:fs/promises';
import { runSideBySide } from '../../io/side-by-side.js';
import type { TableRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import { code, readFiles, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import { MOST_TASKS, refuseRows, type Workers } from '../../workers/workers.js';
import { PART, type PartFile } from './part-task.js';

/** Workers, and what makes relations readable to them. */
export interface Elsewhere {
  workers: Workers;
  ship: (sql: Sql) => Promise<Sql[]>;
}

/** The rows of a table, and of some of its files. */
export type DividedTable = Pick<TableRows, 'table' | 'rows' | 'files' | 'ofFiles'>;

/** Rows that a worker takes at once. */
export const WORKER_ROWS = 300_000n;

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
export function selectParts(table: DividedTable, source: Sql, { key, count, queries }: Division): Sql {
  const columns = code(selectNamedColumns(table.table, queries));
  return sql`SELECT ${columns}, hash(${code(key)}) % ${count} AS part FROM ${source} WHERE ${code(key)} IS NOT NULL`;
}

/** Has workers divide a table, a group of its files each. */
export function divideTable(
  graph: RelationGraph,
  elsewhere: Elsewhere,
  table: DividedTable,
  division: Division,
): Promise<PartFile[]> {
  const { key, folder } = division;
  const pieces = groupBySize(table.files, WORKER_ROWS).map((files) => {
    const source = table.ofFiles(files);
    const count = async () => {
      const row = await graph.row(sql`SELECT count(${code(key)}) AS n FROM ${source}`);
      return row?.n as bigint;
    };
    return { select: selectParts(table, source, division), count };
  });
  return divideRows(elsewhere, pieces, folder);
}

/** Has workers divide rows by their column `part`. `count` tells how many a piece has, where the run can know it. */
export async function divideRows(
  { workers, ship }: Elsewhere,
  pieces: readonly { select: Sql; count?: () => Promise<bigint> }[],
  folder: string,
): Promise<PartFile[]> {
  await mkdir(folder, { recursive: true });
  const divided = await runSideBySide(MOST_TASKS, pieces, async ({ select, count }) => {
    const task = { views: await ship(select), select, folder };
    return workers.do(PART, task, async (files) => refuseRows(files, await count?.()));
  });
  return divided.flat();
}

/** Groups neighbours that have about so many rows together. */
export function groupBySize<F extends { rows: bigint }>(list: readonly F[], limit: bigint): F[][] {
  const groups: F[][] = [];
  let rows = limit;
  for (const one of list) {
    if (rows >= limit) {
      groups.push([]);
      rows = 0n;
    }
    groups.at(-1)?.push(one);
    rows += one.rows;
  }
  return groups;
}

/** The rows of files that a division wrote. */
export function readParts(files: readonly PartFile[]): Sql {
  const paths = files.map(({ path }) => path);
  return sql`SELECT * FROM ${readFiles('read_parquet', paths, ['hive_partitioning = false'])}`;
}
