import {
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int64,
  List,
  Schema,
  Table,
  TimestampMicrosecond,
  tableToIPC,
  Utf8,
} from 'apache-arrow';
import type { ColumnType, TableSchema } from '../tables/schemas.js';

const ARROW_TYPES: Record<ColumnType, () => DataType> = {
  BIGINT: () => new Int64(),
  VARCHAR: () => new Utf8(),
  'DECIMAL(18,4)': () => new Decimal(4, 18, 128),
  'TIMESTAMP WITH TIME ZONE': () => new TimestampMicrosecond('UTC'),
  DATE: () => new DateDay(),
  BOOLEAN: () => new Bool(),
  DOUBLE: () => new Float64(),
  'VARCHAR[]': () => new List(new Field('item', new Utf8(), true)),
};

/** Encodes a table's columns as an Arrow IPC stream without rows. Its schema has the descriptions and the key. */
export function writeArrowSchema({ table, description, key, columns }: TableSchema): Uint8Array {
  const fields = columns.map(
    (column) =>
      new Field(
        column.name,
        ARROW_TYPES[column.type](),
        column.nullable,
        new Map([['description', column.description]]),
      ),
  );
  const metadata = { table, description, key: JSON.stringify(key) };
  return tableToIPC(new Table(new Schema(fields, new Map(Object.entries(metadata)))), 'stream');
}
