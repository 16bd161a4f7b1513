import type { ColumnType, TableSchema } from '../tables/schemas.js';
import { DELTA_TYPES } from '../tables/schemas.js';

type JsonType = Record<string, unknown>;

/** The JSON types of values in the output of `pricelake query --format ndjson`. Numbers keep all their digits. */
const JSON_TYPES: Record<ColumnType, JsonType> = {
  BIGINT: { type: 'integer', minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n, format: 'int64' },
  VARCHAR: { type: 'string' },
  'DECIMAL(18,4)': { type: 'number', multipleOf: 0.0001 },
  'TIMESTAMP WITH TIME ZONE': { type: 'string', format: 'date-time' },
  DATE: { type: 'string', format: 'date' },
  BOOLEAN: { type: 'boolean' },
  DOUBLE: { type: 'number' },
  'VARCHAR[]': { type: 'array', items: { type: ['string', 'null'] } },
};

/** Returns the JSON Schema (2020-12) of a table's rows. The bounds of int64 columns are bigints. */
function describeJsonRow({ table, description, columns }: TableSchema): JsonType {
  const properties = columns.map(({ name, type, nullable, description: meaning }) => {
    const base = JSON_TYPES[type];
    return [name, { description: meaning, ...base, ...(nullable ? { type: [base.type, 'null'] } : {}) }];
  });
  return {
    title: table,
    description,
    type: 'object',
    properties: Object.fromEntries(properties),
    required: columns.map(({ name }) => name),
    additionalProperties: false,
  };
}

/** Returns the JSON Schema of one table's rows. For all tables, `$defs` contains the schema of each table. */
export function describeJson(schemas: TableSchema[], isOne: boolean): JsonType {
  const dialect = { $schema: 'https://json-schema.org/draft/2020-12/schema' };
  const [first] = schemas;
  if (isOne && first !== undefined) return { ...dialect, ...describeJsonRow(first) };
  return { ...dialect, $defs: Object.fromEntries(schemas.map((schema) => [schema.table, describeJsonRow(schema)])) };
}

/** Returns the contract in the form that Spark's `StructType.fromJson` accepts. */
export function describeSparkSchema({ columns }: TableSchema) {
  const fields = columns.map(({ name, type, nullable, description }) => ({
    name,
    type: DELTA_TYPES[type],
    nullable,
    metadata: { comment: description },
  }));
  return { type: 'struct', fields };
}
