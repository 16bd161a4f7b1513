/** A file of its own, so that `--help` loads no writer of contracts. */
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
] as const;
export type ContractFormat = (typeof CONTRACT_FORMATS)[number];
