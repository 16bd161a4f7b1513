/** The warehouses. Apart from the code for them, so that `--help` loads none of it. */
export const WAREHOUSES = ['postgres', 'redshift', 'snowflake', 'bigquery', 'databricks'] as const;
export type Warehouse = (typeof WAREHOUSES)[number];
