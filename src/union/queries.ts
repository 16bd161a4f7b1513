import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';
import { bindQuery } from '../sql/model.js';
import { type Sql, writeTyped } from '../sql/sql.js';

/** The queries in pipelines/union. They read `all_<table>`: a table's rows in all lakes, with their lake numbers. */
export const UNION_QUERIES = ['left_items', 'left_history', 'sites', 'sources', 'runs', 'check_results'] as const;
type UnionQuery = (typeof UNION_QUERIES)[number];

/** Returns the SQL of `pipelines/union/<name>.sql`. */
export const readUnionQuery = (name: UnionQuery): string =>
  readFileSync(packagePath(`pipelines/union/${name}.sql`), 'utf8').trim();

/** Binds a query to the rows of its tables, and to the values of its variables. */
export function bindUnion(
  name: UnionQuery,
  rows: Readonly<Record<string, Sql>>,
  values: Readonly<Record<string, bigint | string>> = {},
): Sql {
  const literals = Object.entries(values).map(([key, value]) => [
    key,
    typeof value === 'bigint' ? writeTyped('BIGINT', value) : writeTyped('VARCHAR', value),
  ]);
  return bindQuery(readUnionQuery(name), rows, Object.fromEntries(literals));
}
