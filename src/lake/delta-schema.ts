import type { TableSchema } from '../tables/schemas.js';
import { SPARK_TYPES, type SparkType } from '../tables/spark-types.js';

interface DeltaField {
  name: string;
  type: SparkType;
  nullable: boolean;
  metadata: Record<string, unknown>;
}

/** The table's contract as Delta's `schemaString`. Every column is nullable there, as it is in DuckDB's files. */
export function writeDeltaSchema(schema: TableSchema): string {
  const fields = schema.columns.map(
    (column): DeltaField => ({
      name: column.name,
      type: SPARK_TYPES[column.type],
      nullable: true,
      metadata: { comment: column.description },
    }),
  );
  return JSON.stringify({ type: 'struct', fields });
}

/** Name → type of the columns of a `schemaString`, in order. */
export function readDeltaColumns(schemaString: string): Map<string, string> {
  const { fields } = JSON.parse(schemaString) as { fields: DeltaField[] };
  return new Map(fields.map(({ name, type }) => [name, typeof type === 'string' ? type : JSON.stringify(type)]));
}
