import { PricelakeError } from '../errors.js';
import type { TableSchema } from '../schemas.js';

/**
 * A partition value as Delta's log has it (protocol, "Partition Value Serialization"): DuckDB's text, but instants
 * in ISO 8601.
 * @throws PricelakeError `config` for an empty text, which Delta reads as null.
 */
export function writePartitionValue(schema: TableSchema, column: string, text: string): string {
  if (text === '') {
    throw new PricelakeError(
      'config',
      `${schema.table}: an empty ${column} can't be a partition, Delta reads it as null`,
      {
        hint: `Take ${column} out of partitionBy of ${schema.table}.`,
      },
    );
  }
  const type = schema.columns.find(({ name }) => name === column)?.type;
  if (type !== 'TIMESTAMP WITH TIME ZONE') return text;
  return `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`;
}
