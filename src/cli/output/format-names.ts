/** Forms of a result. Apart from the writers, so that `--help` loads none of them. */
export const FORMATS = ['table', 'csv', 'json', 'ndjson', 'arrow', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];
