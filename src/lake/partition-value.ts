import { createHash } from 'node:crypto';
import type { DuckDBValue } from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';
import { quoteIdentifier } from '../sql/quote.js';
import type { TableSchema } from '../tables/schemas.js';

/** Returns the name of a column by which DuckDB partitions. The name appears only in the paths of staged files. */
export const partitionKey = (index: number) => `partition_${index}`;

/**
 * Adds the columns by which DuckDB partitions the rows of a query. Replaces a text by its hash, because a text may be
 * too long for a folder name, and because DuckDB reads some strings as null.
 */
export function addPartitionKeys(schema: TableSchema, partitionBy: string[], select: string): string {
  if (partitionBy.length === 0) return select;
  const keys = partitionBy.map((name, index) => {
    const column = quoteIdentifier(name);
    return `${isText(schema, name) ? `sha256(${column})` : column} AS ${partitionKey(index)}`;
  });
  return `SELECT *, ${keys.join(', ')} FROM (${select}\n)`;
}

/** Maps hashes to strings. DuckDB's statistics can't replace this map, because they truncate strings at 256 bytes. */
export type PartitionTexts = ReadonlyMap<string, string>;

export function hashPartitionTexts(
  schema: TableSchema,
  partitionBy: readonly string[],
  counts: readonly { values: readonly (string | null)[] }[],
): PartitionTexts {
  const texts = new Map<string, string>();
  for (const [index, name] of partitionBy.entries()) {
    if (!isText(schema, name)) continue;
    for (const { values } of counts) {
      const text = values[index];
      if (text != null) texts.set(createHash('sha256').update(text).digest('hex'), text);
    }
  }
  return texts;
}

/** Returns the partition values of a file as the log stores them. */
export function readPartitionValues(
  schema: TableSchema,
  partitionBy: string[],
  keys: Map<string, DuckDBValue>,
  texts: PartitionTexts,
): Record<string, string | null> {
  return Object.fromEntries(
    partitionBy.map((name, index) => {
      const key = keys.get(partitionKey(index)) ?? null;
      if (key === null) return [name, null];
      const text = isText(schema, name) ? texts.get(String(key)) : String(key);
      if (text === undefined)
        throw new PricelakeError('lake_invalid', `${schema.table}: rows of a staged file changed`);
      return [name, writePartitionValue(schema, name, text)];
    }),
  );
}

function isText(schema: TableSchema, name: string): boolean {
  return schema.columns.find((column) => column.name === name)?.type === 'VARCHAR';
}

/**
 * Matches strings that some readers interpret as null: the empty string (Delta readers), `__HIVE_DEFAULT_PARTITION__`
 * (Polars), and `null` in any mix of upper and lower case (DuckDB).
 */
const READ_AS_NULL = /^$|^__HIVE_DEFAULT_PARTITION__$|^null$/i;

/**
 * Formats a partition value for Delta's log (Delta protocol, Partition Value Serialization). Writes times in ISO 8601
 * and other values in DuckDB's format.
 * @throws PricelakeError `config` if some readers would interpret the text as null
 */
function writePartitionValue(schema: TableSchema, column: string, text: string): string {
  if (READ_AS_NULL.test(text)) {
    const what = `${schema.table}: ${column} '${text}' can't be a partition value, because some readers treat it as null`;
    throw new PricelakeError('config', what, { hint: `Remove ${column} from partitionBy of ${schema.table}.` });
  }
  const type = schema.columns.find(({ name }) => name === column)?.type;
  if (type !== 'TIMESTAMP WITH TIME ZONE') return text;
  return `${text.replace(' ', 'T').replace(/\+00$/, '')}Z`;
}
