import type { ColumnType } from './schemas.js';

export type SparkType = string | { type: 'array'; elementType: string; containsNull: boolean };

/** A column's type in Spark's words, which are Delta's too. */
export const SPARK_TYPES: Record<ColumnType, SparkType> = {
  BIGINT: 'long',
  VARCHAR: 'string',
  'DECIMAL(18,4)': 'decimal(18,4)',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
  DATE: 'date',
  BOOLEAN: 'boolean',
  DOUBLE: 'double',
  'VARCHAR[]': { type: 'array', elementType: 'string', containsNull: true },
};
