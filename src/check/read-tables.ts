import { TABLE_NAMES, type TableName } from '../tables/table.js';

const COMMENT_LINE = /^\s*--.*$/gmu;

/**
 * The tables that a check reads: those whose names are in its SQL. It may name one too many, where a column has the name
 * of a table, but never too few. DuckDB's `getTableNames` gives none for SQL with `USING` or parameters.
 */
export function findReadTables(sql: string): TableName[] {
  const words = new Set(sql.replace(COMMENT_LINE, '').toLowerCase().match(/\w+/gu) ?? []);
  return TABLE_NAMES.filter((table) => words.has(table));
}
