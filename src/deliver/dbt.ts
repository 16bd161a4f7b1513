import { stringify } from 'yaml';
import type { Column, TableSchema } from '../tables/schemas.js';
import { RUN_MODES, type TableName } from '../tables/table.js';

/** For each listed column, the column of another table that contains all its values. */
const RELATIONSHIPS: Partial<Record<TableName, Record<string, [table: TableName, column: string]>>> = {
  items: { site_id: ['sites', 'site_id'] },
  product_prices: { product_id: ['products', 'product_id'] },
  offers: {
    item_id: ['items', 'item_id'],
    product_id: ['products', 'product_id'],
    site_id: ['sites', 'site_id'],
  },
  price_spread: {
    product_id: ['products', 'product_id'],
    cheapest_site_id: ['sites', 'site_id'],
    dearest_site_id: ['sites', 'site_id'],
  },
  rejects: { run_id: ['runs', 'run_id'] },
  check_results: { run_id: ['runs', 'run_id'] },
};

/** Columns with a fixed list of values. Columns whose values the service defines aren't listed. */
const ACCEPTED_VALUES: Partial<Record<TableName, Record<string, readonly string[]>>> = {
  history: { origin: ['feed', 'history', 'webhook', 'diff'] },
  sources: { read_by: ['copy', 'poll', 'probe', 'item', 'change'] },
  offers: {
    condition: ['new', 'used', 'refurbished', 'opened'],
    availability: ['in stock', 'out of stock', 'on order'],
  },
  price_spread: { grade: ['A', 'B', 'C'] },
  price_spread_daily: { grade: ['A', 'B', 'C'] },
  matches: { evidence: ['bridge', 'user'] },
  check_results: { severity: ['gate', 'error', 'warn'] },
  runs: { mode: RUN_MODES },
};

/** The time of the last load is in this table's newest row. Each run that changes data adds a row to the table. */
const LOADED_AT: { table: TableName; column: string } = { table: 'runs', column: 'finished_at' };
const WARN_AFTER_DAYS = 1;
const ERROR_AFTER_DAYS = 2;

/**
 * Formats the tables as a dbt source with descriptions, freshness and tests. dbt-duckdb reads the tables in place with
 * its Delta plugin. Other adapters find them in the schema from the `pricelake_schema` variable.
 * @param base the lake's folder or address; by default, the folder from the `pricelake_lake` variable
 */
export function writeDbt(schemas: readonly TableSchema[], base = "{{ var('pricelake_lake', 'lake') }}"): string {
  const source = {
    name: 'pricelake',
    description: 'An exact, typed copy of the Price and Product Data API, and price spreads made from it.',
    schema: "{{ var('pricelake_schema', 'pricelake') }}",
    tables: schemas.map((schema) => describeTable(schema, base)),
  };
  // `lineWidth: 0` keeps long descriptions on one line instead of folding them.
  return stringify({ version: 2, sources: [source] }, { lineWidth: 0 });
}

function describeTable(schema: TableSchema, base: string) {
  const { table, description, key, columns } = schema;
  return {
    name: table,
    description,
    config: { meta: { plugin: 'delta', delta_table_path: `${base.replace(/\/+$/, '')}/${table}` } },
    ...(table === LOADED_AT.table ? describeFreshness() : {}),
    ...(key.length > 1 ? { data_tests: [{ unique: { arguments: { column_name: joinKey(key) } } }] } : {}),
    columns: columns.map((column) => describeColumn(schema, column)),
  };
}

function describeFreshness() {
  const after = (count: number) => ({ count, period: 'day' });
  return {
    loaded_at_field: LOADED_AT.column,
    freshness: { warn_after: after(WARN_AFTER_DAYS), error_after: after(ERROR_AFTER_DAYS) },
  };
}

/** Joins the columns of a key in an expression that DuckDB, Snowflake and BigQuery all accept. */
const joinKey = (key: readonly string[]) =>
  key.map((name) => `coalesce(cast(${name} as string), '')`).join(" || '|' || ");

function describeColumn({ table, key }: TableSchema, { name, nullable, description }: Column) {
  const target = RELATIONSHIPS[table]?.[name];
  const values = ACCEPTED_VALUES[table]?.[name];
  const tests = [
    ...(key.length === 1 && key[0] === name ? ['unique'] : []),
    ...(nullable ? [] : ['not_null']),
    ...(target === undefined ? [] : [writeRelationship(target)]),
    ...(values === undefined ? [] : [{ accepted_values: { arguments: { values } } }]),
  ];
  return { name, description, ...(tests.length === 0 ? {} : { data_tests: tests }) };
}

function writeRelationship([table, field]: [table: TableName, column: string]) {
  return { relationships: { arguments: { to: `source('pricelake', '${table}')`, field } } };
}
