import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import { Database } from '../../src/duckdb/connection.js';
import { readAttributions } from '../../src/lake/attribution.js';
import { commitTable } from '../../src/lake/commit.js';
import { type Lake, openLake } from '../../src/lake/lake.js';
import { readPointer } from '../../src/lake/pointer.js';
import { publishPointer } from '../../src/lake/publish.js';
import { readTable } from '../../src/lake/read.js';
import { stageTable } from '../../src/lake/stage.js';
import { createTableViews } from '../../src/lake/views.js';
import { columnsOf } from '../../src/sql/sql.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';

export type Columns = Partial<Record<TableName, string[]>>;

/** Runs `work` with contracts before they had these columns: as an older version of pricelake has them. */
export async function withoutColumns<T>(without: Columns, work: () => Promise<T>): Promise<T> {
  const before = TABLE_NAMES.map((table) => ({
    schema: loadTableSchema(table),
    columns: loadTableSchema(table).columns,
  }));
  for (const { schema, columns } of before) {
    schema.columns = columns.filter(({ name }) => !without[schema.table]?.includes(name));
  }
  try {
    return await work();
  } finally {
    for (const { schema, columns } of before) schema.columns = columns;
  }
}

/** Writes the tables of a lake into another one as a version without these columns and tables would have; the landing with them. */
export async function writeOlderLake(
  from: string,
  to: string,
  without: Columns,
  withoutTables: readonly TableName[] = [],
): Promise<void> {
  const lake = await openLake(from, { create: false });
  const older = await openLake(to, { create: true });
  const db = await Database.open();
  try {
    await createTableViews(db, lake);
    const attributions = await readAttributions(db, 'sites');
    await withoutColumns(without, async () => {
      for (const table of TABLE_NAMES) if (!withoutTables.includes(table)) await writeTable(db, lake, older, table);
      const pointer = await readPointer(lake);
      if (pointer !== undefined) await publishPointer(older, { ...pointer, attributions });
    });
  } finally {
    await db.close();
  }
  for (const name of ['landing', 'idle-runs.ndjson']) {
    const source = path.join(from, '_pricelake', name);
    if (existsSync(source)) cpSync(source, path.join(to, '_pricelake', name), { recursive: true });
  }
}

async function writeTable(db: Database, lake: Lake, older: Lake, table: TableName): Promise<void> {
  const { version, applied } = await readTable(lake, table);
  if (version < 0n) return;
  const select = `SELECT ${columnsOf(table).text} FROM ${table}`;
  const add = await stageTable(db, older, { table, runId: 'older', select });
  // Derived tables name the version of items that they are made from: here the first.
  const followed = applied.itemsVersion === undefined ? applied : { ...applied, itemsVersion: 0n };
  const info = { runId: 'older', operation: 'SYNC', at: new Date('2026-11-20T10:00:00Z') };
  await commitTable(older, { table, add, remove: [], applied: followed }, info);
}
