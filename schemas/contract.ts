import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { packagePath } from '../src/io/package-path.js';
import { COLUMN_TYPES, type TableSchema } from '../src/tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../src/tables/table.js';

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

/** Reads and checks `schemas/<table>.yaml`. */
export function readContract(table: TableName): TableSchema {
  return tableSchema.parse(parse(readFileSync(packagePath(`schemas/${table}.yaml`), 'utf8')));
}
