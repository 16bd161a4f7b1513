import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';
import type { TableName } from './table.js';

/** The DuckDB types of published columns. Money is DECIMAL(18,4); times are UTC with microseconds. */
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

export interface Column {
  name: string;
  type: ColumnType;
  nullable: boolean;
  description: string;
}

/** The contract of a published table. `schemas/<table>.yaml` is the only authority on the table's types. */
export interface TableSchema {
  table: TableName;
  description: string;
  key: string[];
  partitionBy: string[];
  source: string;
  columns: Column[];
}

let loaded: Record<TableName, TableSchema> | undefined;

/**
 * Loads a table's contract from schemas/tables.json, which is generated from the YAML files, because parsing YAML takes
 * a hundred times as long.
 */
export function loadTableSchema(table: TableName): TableSchema {
  loaded ??= JSON.parse(readFileSync(packagePath('schemas/tables.json'), 'utf8')) as Record<TableName, TableSchema>;
  const schema = loaded[table];
  if (schema === undefined) throw new Error(`schemas/tables.json lacks table ${table}: run npm run schemas`);
  return schema;
}

/**
 * The offset of list element ids. In Parquet files, a column's id is its position in the contract; the id of a list's
 * elements adds this offset.
 */
export const LIST_ELEMENT_ID = 1000n;

export type DeltaType = string | { type: 'array'; elementType: string; containsNull: boolean };

export const DELTA_TYPES: Record<ColumnType, DeltaType> = {
  BIGINT: 'long',
  VARCHAR: 'string',
  'DECIMAL(18,4)': 'decimal(18,4)',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
  DATE: 'date',
  BOOLEAN: 'boolean',
  DOUBLE: 'double',
  'VARCHAR[]': { type: 'array', elementType: 'string', containsNull: true },
};
