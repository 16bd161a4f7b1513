import type { ColumnType, TableSchema } from '../tables/schemas.js';

type SparkType = string | { type: 'array'; elementType: string; containsNull: boolean };

const SPARK_TYPES: Record<ColumnType, SparkType> = {
  BIGINT: 'long',
  VARCHAR: 'string',
  'DECIMAL(18,4)': 'decimal(18,4)',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
  DATE: 'date',
  BOOLEAN: 'boolean',
  DOUBLE: 'double',
  'VARCHAR[]': { type: 'array', elementType: 'string', containsNull: true },
};

/** The contract as Spark's `StructType.fromJson` reads it. */
export function describeSparkSchema({ columns }: TableSchema) {
  const fields = columns.map(({ name, type, nullable, description }) => ({
    name,
    type: SPARK_TYPES[type],
    nullable,
    metadata: { comment: description },
  }));
  return { type: 'struct', fields };
}
