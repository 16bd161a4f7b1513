import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { packagePath } from '../io/package-path.js';
import { TABLE_NAMES, type TableName } from './table.js';

/** DuckDB types a published column may have. Money is DECIMAL(18,4), times are UTC instants in microseconds. */
export const COLUMN_TYPES = [
  'BIGINT',
  'VARCHAR',
  'DECIMAL(18,4)',
  'TIMESTAMP WITH TIME ZONE',
  'DATE',
  'BOOLEAN',
  'DOUBLE',
  'VARCHAR[]',
] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

const columnSchema = z.strictObject({
  name: z.string(),
  type: z.enum(COLUMN_TYPES),
  nullable: z.boolean(),
  description: z.string(),
});

const tableSchema = z.strictObject({
  table: z.enum(TABLE_NAMES),
  description: z.string(),
  key: z.array(z.string()),
  partitionBy: z.array(z.string()),
  source: z.string(),
  columns: z.array(columnSchema),
});

export type Column = z.infer<typeof columnSchema>;
/** The contract of a published table: `schemas/<table>.yaml`, the only authority on its types. */
export type TableSchema = z.infer<typeof tableSchema>;

const loaded = new Map<TableName, TableSchema>();

/** Reads and checks `schemas/<table>.yaml`. */
export function loadTableSchema(table: TableName): TableSchema {
  let schema = loaded.get(table);
  if (schema === undefined) {
    schema = tableSchema.parse(parse(readFileSync(packagePath(`schemas/${table}.yaml`), 'utf8')));
    loaded.set(table, schema);
  }
  return schema;
}
