/**
 * Names of formats and warehouses. They have a file of their own, so that `--help` does not load the code behind them.
 */

/** Catalogs in which tables are registered in place. */
export const CATALOGS = ['unity', 'glue', 'hive'] as const;
export type Catalog = (typeof CATALOGS)[number];

export const CONTRACT_FORMATS = [
  'markdown',
  'ddl',
  'json',
  'arrow',
  'bigquery',
  'snowflake',
  'redshift',
  'postgres',
  'databricks',
  'spark',
  'odcs',
  'dbt',
  ...CATALOGS,
] as const;
export type ContractFormat = (typeof CONTRACT_FORMATS)[number];

/** Formats for a single loader each. The format `json`, which is not listed here, contains everything. */
export const LOADER_FORMATS = ['redshift', 'snowflake', 'bigquery', 'list'] as const;
export type LoaderFormat = (typeof LOADER_FORMATS)[number];

export const WAREHOUSES = ['postgres', 'redshift', 'snowflake', 'bigquery', 'databricks'] as const;
export type Warehouse = (typeof WAREHOUSES)[number];
