/** Forms of a table's contract. Apart from the writers, so that `--help` loads none of them. */
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
