/**
 * Names of formats and warehouses. They are in a separate file so that `--help` doesn't load the code that implements
 * them.
 */

/** Catalogs that read the lake's tables in place. */
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

/** The formats for particular loaders. The `json` format isn't listed, because any loader can use it. */
export const LOADER_FORMATS = ['redshift', 'snowflake', 'bigquery', 'list'] as const;
export type LoaderFormat = (typeof LOADER_FORMATS)[number];

export const WAREHOUSES = ['postgres', 'redshift', 'snowflake', 'bigquery', 'databricks'] as const;
export type Warehouse = (typeof WAREHOUSES)[number];
