import type { Database } from '../sql/connection.js';
import type { RelationGraph } from '../sql/graph.js';
import { asRows, type Source } from '../sql/model.js';
import { quoteIdentifier } from '../sql/quote.js';
import { code, selectNamedColumns, sql } from '../sql/sql.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import { findReadTables } from './check.js';
import { type ChangedItems, type CheckedTables, countRows, type Violations } from './count-rows.js';
import type { ConfiguredCheck } from './settings.js';

const SCOPED: readonly TableName[] = ['items', 'history'];

/**
 * Counts the violations of checks with the header `within_run`, which read only items that the run changed, or only
 * these items' websites. Reads `items` and `history` once for all checks with the same column. Omits a check that
 * fails. This check then reads all rows, and reports the error.
 */
export async function countWithinRun(
  graph: RelationGraph,
  checked: CheckedTables,
  changed: ChangedItems,
  configured: readonly ConfiguredCheck[],
): Promise<Map<string, Violations>> {
  const found = new Map<string, Violations>();
  for (const column of new Set(configured.flatMap(({ check }) => check.withinRun ?? []))) {
    const checks = configured.filter(({ check }) => check.withinRun === column);
    const scoped = await readScope(graph, checked, changed, column, checks);
    for (const one of checks) {
      const counted = await countRows(graph, one, scoped).catch(() => undefined);
      if (counted !== undefined) found.set(one.check.name, counted);
    }
  }
  return found;
}

/** Copies the columns of `items` and `history` that the checks name, in rows with a value that the run touched. */
async function readScope(
  graph: RelationGraph,
  { tables, runId }: CheckedTables,
  { before, after }: ChangedItems,
  column: string,
  checks: readonly ConfiguredCheck[],
): Promise<CheckedTables> {
  const read = new Set(checks.flatMap(({ check }) => findReadTables(check.sql)));
  const hasColumn = (table: TableName) => loadTableSchema(table).columns.some(({ name }) => name === column);
  const names = SCOPED.filter((table) => read.has(table) && hasColumn(table));
  const key = code(quoteIdentifier(column));
  const { history } = tables;
  const condition =
    names.includes('history') && history !== undefined
      ? sql` UNION SELECT ${key} FROM ${asRows(history)} WHERE run_id = ${runId ?? null}`
      : sql``;
  const keys = graph.table(
    'scope_keys',
    sql`SELECT ${key} FROM ${before} UNION SELECT ${key} FROM ${after}${condition}`,
  );
  const texts = checks.map(({ check }) => check.sql);
  const isNamed = await nameTheirColumns(graph.db, texts);
  const scoped: { -readonly [K in TableName]?: Source } = { ...tables };
  for (const table of names) {
    const source = tables[table];
    if (source === undefined) continue;
    const columns = code(isNamed ? selectNamedColumns(table, [...texts, column]) : '*');
    scoped[table] = graph.table(
      `scoped_${table}`,
      sql`SELECT ${columns} FROM ${asRows(source)} SEMI JOIN ${keys} USING (${key})`,
    );
  }
  return { tables: scoped, runId };
}

/** False if a statement reads columns that it doesn't name, as `SELECT *` and `NATURAL JOIN` do. */
async function nameTheirColumns(db: Database, statements: readonly string[]): Promise<boolean> {
  for (const sql of statements) {
    const row = await db.row('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR AS tree', [sql]);
    // For SQL that DuckDB can't serialize, such as a PIVOT, the syntax tree contains an error.
    if (/"error":true|"class":"STAR"|"ref_type":"NATURAL"/u.test(String(row?.tree))) return false;
  }
  return true;
}
