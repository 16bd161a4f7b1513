import { planLoad, type TableLoad } from '../../src/deliver/load-plan.js';
import { type LoadTarget, writeApply, writeCreate } from '../../src/deliver/load-sql.js';
import type { Warehouse } from '../../src/deliver/names.js';
import { SQL_DIALECTS } from '../../src/deliver/sql-dialects.js';
import type { Database } from '../../src/sql/connection.js';
import { type Lake, tablePath } from '../../src/tables/layout.js';
import type { DataFile, TableName } from '../../src/tables/table.js';

/** Where each warehouse finds the lake's files. */
export const BASES: Record<Warehouse, string> = {
  postgres: '',
  redshift: 's3://bucket/lake',
  snowflake: '@stage',
  bigquery: 'gs://bucket/lake/',
  databricks: 'abfss://lake@account.dfs.core.windows.net/lake',
};

/** DuckDB is the copy: it runs the statements as they are, over views of the files as staging tables. */
export const TARGET: LoadTarget = { dialect: SQL_DIALECTS.ddl, schema: undefined, hasTransactions: true };

export function relate(lake: Lake, table: TableName, files: readonly DataFile[]): string {
  const names = files.map(({ path }) => `'${tablePath(lake, table, path)}'`).join(', ');
  return `read_parquet([${names}], hive_partitioning = false)`;
}

/** Brings a table of the copy from run `since` to the newest one. */
export async function loadTable(
  copy: Database,
  lake: Lake,
  table: TableName,
  since: bigint | undefined,
): Promise<TableLoad> {
  const load = await planLoad(lake, table, since);
  for (const sql of writeCreate(TARGET, load)) await copy.run(sql);
  const rows = load.files.length === 0 ? `${table} WHERE false` : relate(lake, table, load.files);
  await copy.run(`CREATE OR REPLACE VIEW stage_${table} AS FROM ${rows}`);
  for (const sql of writeApply(TARGET, load, `stage_${table}`)) await copy.run(sql);
  return load;
}
