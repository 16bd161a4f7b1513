/** A file of its own, so that `--help` loads no code of warehouses. */
export const WAREHOUSES = ['postgres', 'redshift', 'snowflake', 'bigquery', 'databricks'] as const;
export type Warehouse = (typeof WAREHOUSES)[number];
