import { PricelakeError } from '../errors.js';
import type { TableSchema } from '../schemas.js';

/** Delta reads an empty value as null, Polars the folder name of a null, DuckDB's glob any spelling of NULL. */
const READ_AS_NULL = /^$|^__HIVE_DEFAULT_PARTITION__$|^null$/i;

/**
 * A partition value as Delta's log has it (protocol, "Partition Value Serialization"): DuckDB's text, but instants
 * in ISO 8601.
 * @throws PricelakeError `config` for a text that some reader takes for null.
 */
export function writePartitionValue(schema: TableSchema, column: string, text: string): string {
  if (READ_AS_NULL.test(text)) {
    throw new PricelakeError(
      'config',
      `${schema.table}: ${column} '${text}' can't be a partition: some reader takes it for null`,
      {
        hint: `Take ${column} out of partitionBy of ${schema.table}.`,
      },
    );
  }
  const type = schema.columns.find(({ name }) => name === column)?.type;
  if (type !== 'TIMESTAMP WITH TIME ZONE') return text;
  return `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`;
}
