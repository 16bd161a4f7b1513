import { PricelakeError } from '../errors.js';
import type { TableSchema } from '../schemas.js';

/** The folder name of a null. */
const HIVE_NULL = '__HIVE_DEFAULT_PARTITION__';

/**
 * A partition value as Delta's log has it (protocol, "Partition Value Serialization"): DuckDB's text, but instants
 * in ISO 8601.
 * @throws PricelakeError `config` for the two texts that readers take for null.
 */
export function writePartitionValue(schema: TableSchema, column: string, text: string): string {
  if (text === '' || text === HIVE_NULL) {
    throw new PricelakeError(
      'config',
      `${schema.table}: ${column} '${text}' can't be a partition: readers take it for null`,
      {
        hint: `Take ${column} out of partitionBy of ${schema.table}.`,
      },
    );
  }
  const type = schema.columns.find(({ name }) => name === column)?.type;
  if (type !== 'TIMESTAMP WITH TIME ZONE') return text;
  return `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`;
}
