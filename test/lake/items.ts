import { commitTable } from '../../src/lake/commit.js';
import { stageTable } from '../../src/lake/stage.js';
import type { Database } from '../../src/sql/connection.js';
import { quoteIdentifier } from '../../src/sql/quote.js';
import type { Lake } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import type { Applied, DataFile, TableName } from '../../src/tables/table.js';

/** A select of `table`'s columns from `from`: those in `values` as given, the others null. */
export function select(table: TableName, values: Record<string, string>, from = 'range(1) AS r(i)'): string {
  const columns = loadTableSchema(table).columns.map(
    ({ name, type }) => `CAST(${values[name] ?? 'NULL'} AS ${type}) AS ${quoteIdentifier(name)}`,
  );
  return `SELECT ${columns.join(', ')} FROM ${from}`;
}

/** Values of `items` that are worth a test: ids above 2^53, money, times with microseconds, lists, nulls. */
export const ITEM = {
  item_id: '9007199254740993 + i * 2',
  title: "'Títle ' || i || ' 🛒'",
  price: 'CASE WHEN i % 7 = 0 THEN NULL ELSE 99999999999999.0001 - i END',
  currency: "CASE WHEN i % 2 = 0 THEN 'EUR' END",
  datasets: "CASE WHEN i % 3 = 0 THEN ['a', NULL, 'ü'] END",
  site_id: 'i % 3',
  first_seen_at: "TIMESTAMPTZ '2026-01-01 00:00:00.000001+00' + to_microseconds(i)",
  is_listed: 'i % 2 = 0',
  run_id: "'r1'",
};

export const AT = new Date('2026-11-20T10:00:00.000Z');

export interface Write {
  table?: TableName;
  select: string;
  remove?: DataFile[];
  applied?: Partial<Applied>;
  partitionBy?: string[];
  at?: Date;
  retentionMs?: number;
}

/** Stages and commits in one go. */
export async function write(db: Database, lake: Lake, { table = 'items', ...change }: Write): Promise<bigint> {
  const { partitionBy } = change;
  const stage = { table, runId: 'r1', select: change.select, ...(partitionBy === undefined ? {} : { partitionBy }) };
  const add = await stageTable(db, lake, stage);
  const { remove = [], applied = {}, retentionMs } = change;
  const info = { runId: 'r1', operation: 'TEST', at: change.at ?? AT };
  return commitTable(
    lake,
    { table, add, remove, applied },
    { ...info, ...(retentionMs === undefined ? {} : { retentionMs }) },
  );
}
