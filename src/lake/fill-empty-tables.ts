import { basename } from 'node:path';
import type { Database } from '../sql/connection.js';
import { writeEmptySelect } from '../sql/table-relation.js';
import type { Lake } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type StagedFile, TABLE_NAMES, type TableName } from '../tables/table.js';
import { type CommitInfo, commitTable } from './commit.js';
import { readLog } from './delta-log.js';
import { readTable } from './read.js';
import { stageTable } from './stage.js';
import { writeStats } from './stats.js';

export interface Filling {
  commit: CommitInfo;
  metadata: Record<string, string>;
  /** The tables to fill; defaults to all tables. */
  tables?: readonly TableName[];
  /** The partition columns of tables that don't exist yet; defaults to the columns given in schemas/<table>.yaml. */
  partitionBy?: Partial<Record<TableName, string[] | undefined>>;
}

/**
 * Adds an empty file to each table that has no file, so that plain Parquet readers find the table's columns. Returns
 * the tables that got a file. The commit that adds a table's first rows removes its empty file.
 */
export async function fillEmptyTables(db: Database, lake: Lake, filling: Filling): Promise<TableName[]> {
  const filled: TableName[] = [];
  for (const table of filling.tables ?? TABLE_NAMES) {
    if ((await readTable(lake, table)).files.length > 0) continue;
    const add = [await stageEmptyFile(db, lake, table, filling)];
    await commitTable(lake, { table, add, remove: [], applied: {}, dataChange: false }, filling.commit);
    filled.push(table);
  }
  return filled;
}

async function stageEmptyFile(db: Database, lake: Lake, table: TableName, filling: Filling): Promise<StagedFile> {
  const schema = loadTableSchema(table);
  const known = (await readLog(lake, table)).metaData?.partitionColumns;
  const columns = known ?? filling.partitionBy?.[table] ?? schema.partitionBy;
  const { commit, metadata } = filling;
  const stage = { table, runId: commit.runId, select: writeEmptySelect(table), partitionBy: [], metadata };
  const [file] = await stageTable(db, lake, { ...stage, keepsEmpty: true });
  if (file === undefined) throw new TypeError(`${table}: no file was written`);
  return {
    ...file,
    path: `empty.${basename(file.path)}`,
    partitionValues: Object.fromEntries(columns.map((name) => [name, null])),
    stats: writeStats(schema, columns, 0n, new Map()),
    modifiedAt: commit.at.getTime(),
  };
}
