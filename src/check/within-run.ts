import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import { selectNamedColumns } from '../tables/named-columns.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import { countRows, type Violations } from './count-rows.js';
import { findReadTables } from './read-tables.js';
import type { PlannedCheck } from './settings.js';

const SCOPED: readonly TableName[] = ['items', 'history'];

/**
 * Violations by name, of checks that look only at the items a run touched, or at their websites (`-- within_run:`). What
 * they read of these rows of `items` and `history` is read once for all of them. Needs tables `items_before` and
 * `items_after`, and the variable `run_id`. A check that does not run is left out: over all rows it says why.
 */
export async function countWithinRun(db: Database, planned: readonly PlannedCheck[]): Promise<Map<string, Violations>> {
  const found = new Map<string, Violations>();
  for (const column of new Set(planned.flatMap(({ check }) => check.withinRun ?? []))) {
    const checks = planned.filter(({ check }) => check.withinRun === column);
    const tables = await createScope(db, column, checks);
    await db.substituteEach(
      tables,
      (table) => `FROM scoped_${table}`,
      async () => {
        for (const one of checks) {
          const counted = await countRows(db, one).catch(() => undefined);
          if (counted !== undefined) found.set(one.check.name, counted);
        }
      },
    );
  }
  return found;
}

/** Tables `scoped_items` and `scoped_history`, where they have the column: of the rows with a touched value of it, what the checks read. */
async function createScope(db: Database, column: string, checks: readonly PlannedCheck[]): Promise<TableName[]> {
  const read = new Set(checks.flatMap(({ check }) => findReadTables(check.sql)));
  const hasColumn = (table: TableName) => loadTableSchema(table).columns.some(({ name }) => name === column);
  const tables = SCOPED.filter((table) => read.has(table) && hasColumn(table));
  const key = quoteIdentifier(column);
  const told = tables.includes('history')
    ? `UNION SELECT ${key} FROM history WHERE run_id = getvariable('run_id')`
    : '';
  await db.define(
    'table',
    'scope_keys',
    `SELECT ${key} FROM items_before UNION SELECT ${key} FROM items_after ${told}`,
  );
  const texts = [...checks.map(({ check }) => check.sql), column];
  const isNamed = await nameTheirColumns(db, texts.slice(0, -1));
  for (const table of tables) {
    const columns = isNamed ? selectNamedColumns(table, texts) : '*';
    await db.define('table', `scoped_${table}`, `SELECT ${columns} FROM ${table} SEMI JOIN scope_keys USING (${key})`);
  }
  return tables;
}

/** False where a statement reads columns without naming them, as `SELECT *` and `NATURAL JOIN` do. */
async function nameTheirColumns(db: Database, statements: readonly string[]): Promise<boolean> {
  for (const sql of statements) {
    const row = await db.row('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR AS tree', [sql]);
    // DuckDB can't serialize some, as PIVOT.
    if (/"error":true|"class":"STAR"|"ref_type":"NATURAL"/u.test(String(row?.tree))) return false;
  }
  return true;
}
