import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';
import type { TableName } from './table.js';

/** The DuckDB types of published columns. DECIMAL(18,4) is for amounts of money. Times are UTC with microseconds. */
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

/** The contract of a published table. Only `schemas/<table>.yaml` defines the table's columns and types. */
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
 * Loads a table's contract from schemas/tables.json, which is generated from the YAML files. Parsing the YAML files
 * would take a hundred times as long.
 */
export function loadTableSchema(table: TableName): TableSchema {
  loaded ??= JSON.parse(readFileSync(packagePath('schemas/tables.json'), 'utf8')) as Record<TableName, TableSchema>;
  const schema = loaded[table];
  if (schema === undefined) throw new Error(`schemas/tables.json lacks table ${table}: run npm run schemas`);
  return schema;
}

/**
 * In Parquet files, the id of a column is its position in the contract. This number is added to a list's id to get the
 * id of its elements.
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
