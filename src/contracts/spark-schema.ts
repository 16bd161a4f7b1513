import type { TableSchema } from '../tables/schemas.js';
import { SPARK_TYPES } from '../tables/spark-types.js';

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
