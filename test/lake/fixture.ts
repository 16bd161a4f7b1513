import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { Database } from '../../src/sql/connection.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import type { Lake } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import type { TableName } from '../../src/tables/table.js';

export { AT, ITEM, select, write } from './items.js';

/** A temporary folder that is gone after the test. */
export async function makeFolder(name = 'lake'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `pricelake-${name}-`));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A new lake in a temporary folder. */
export async function makeLake(name?: string): Promise<Lake> {
  return openLake(join(await makeFolder(name), 'lake'), { create: true });
}

/** An in-memory DuckDB that is closed after the test. */
export async function openDatabase(threads = 2): Promise<Database> {
  const db = await Database.open({ threads });
  onTestFinished(() => db.close());
  return db;
}

/** Rows of a relation as JSON texts, sorted: to compare two ways of reading. */
export async function readRows(db: Database, relation: string): Promise<string[]> {
  const rows = await db.rows(`SELECT to_json(row)::VARCHAR AS line FROM (FROM ${relation}) AS row ORDER BY 1`);
  return rows.map((row) => String(row.line));
}

/** `read_parquet` of a pattern, as a user would write it. */
export function glob(lake: Lake, pattern: string): string {
  return `read_parquet(${quoteLiteral(join(lake.root, pattern))})`;
}

/** Each column of a file has the id of its place in the contract. */
export async function expectFieldIds(db: Database, table: TableName, file: string): Promise<void> {
  const rows = await db.rows('SELECT name, field_id FROM parquet_schema(?)', [file.replaceAll(/[[*?]/g, '[$&]')]);
  const ids = new Map(rows.slice(1).map(({ name, field_id }) => [String(name), field_id]));
  for (const [index, { name, type }] of loadTableSchema(table).columns.entries()) {
    expect([name, ids.get(name)]).toEqual([name, BigInt(index + 1)]);
    if (type === 'VARCHAR[]') expect(rows.map(({ field_id }) => field_id)).toContain(BigInt(index + 1001));
  }
}
