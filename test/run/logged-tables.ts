import { openLake } from '../../src/lake/lake.js';
import { createTableViews } from '../../src/lake/views.js';
import { Database } from '../../src/sql/connection.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

/** Every row of every table as text, read through the logs. */
export async function readLoggedTables(lakePath: string): Promise<Record<string, string[]>> {
  const db = await Database.open();
  try {
    await createTableViews(db, await openLake(lakePath, { create: false }));
    const tables: Record<string, string[]> = {};
    for (const table of TABLE_NAMES) {
      const rows = await db.rows(`SELECT to_json(t)::VARCHAR AS line FROM ${table} AS t ORDER BY 1`);
      tables[table] = rows.map((row) => String(row.line));
    }
    return tables;
  } finally {
    await db.close();
  }
}
