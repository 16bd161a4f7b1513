import { stringify } from 'yaml';
import type { ColumnType, TableSchema } from '../tables/schemas.js';

const LOGICAL_TYPES: Record<ColumnType, string> = {
  BIGINT: 'integer',
  VARCHAR: 'string',
  'DECIMAL(18,4)': 'number',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
  DATE: 'date',
  BOOLEAN: 'boolean',
  DOUBLE: 'number',
  'VARCHAR[]': 'array',
};

/** Formats the tables as an Open Data Contract Standard 3.1 contract, in YAML. */
export function writeOdcs(schemas: readonly TableSchema[], version: string): string {
  return stringify({
    apiVersion: 'v3.1.0',
    kind: 'DataContract',
    id: 'pricelake',
    name: 'pricelake',
    version,
    status: 'active',
    description: {
      purpose: 'An exact, typed copy of the Price and Product Data API, and price spreads made from it.',
      usage:
        'Read the tables as Delta tables or Parquet files. Money is decimal, ids are int64, times are instants in UTC.',
      limitations: 'License texts of open-data websites must be passed on with their data (sites.attribution).',
    },
    schema: schemas.map(describeTable),
  });
}

function describeTable({ table, description, key, partitionBy, columns }: TableSchema) {
  return {
    name: table,
    physicalName: table,
    physicalType: 'table',
    description,
    properties: columns.map((column) => ({
      name: column.name,
      logicalType: LOGICAL_TYPES[column.type],
      physicalType: column.type,
      description: column.description,
      required: !column.nullable,
      ...position('primaryKey', key.indexOf(column.name)),
      ...position('partitioned', partitionBy.indexOf(column.name)),
      ...(column.type === 'VARCHAR[]' ? { items: { logicalType: 'string', physicalType: 'VARCHAR' } } : {}),
    })),
  };
}

/** ODCS positions start at 1. */
function position(kind: 'primaryKey' | 'partitioned', index: number): Record<string, unknown> {
  if (index < 0) return {};
  const name = kind === 'partitioned' ? 'partitionKeyPosition' : 'primaryKeyPosition';
  return { [kind]: true, [name]: index + 1 };
}
