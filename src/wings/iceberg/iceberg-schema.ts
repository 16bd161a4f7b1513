import { type Column, LIST_ELEMENT_ID, type TableSchema } from '../../tables/schemas.js';

/** The folder in a lake that contains Iceberg metadata. It contains no data files. */
export const ICEBERG_FOLDER = 'iceberg';
/** The name of the file that contains the number of the newest metadata version. */
export const HINT = 'version-hint.text';

type IcebergType = string | { type: 'list'; 'element-id': number; element: string; 'element-required': boolean };

interface IcebergField {
  id: number;
  name: string;
  required: boolean;
  type: IcebergType;
  doc: string;
}

/** A schema in the metadata of a table (Iceberg specification, "Schemas and Data Types"). */
export interface IcebergSchema {
  type: 'struct';
  'schema-id': number;
  fields: IcebergField[];
}

const TYPES: Record<Exclude<Column['type'], 'VARCHAR[]'>, string> = {
  BIGINT: 'long',
  VARCHAR: 'string',
  'DECIMAL(18,4)': 'decimal(18, 4)',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  DATE: 'date',
  BOOLEAN: 'boolean',
  DOUBLE: 'double',
};

/** Returns a column's field id in Parquet files, which is its position in the table's schema, counted from 1. */
export function findFieldId({ columns }: TableSchema, name: string): number {
  return columns.findIndex((column) => column.name === name) + 1;
}

/** Converts a table's schema to an Iceberg schema. Every column is optional, as in the Delta log and the files. */
export function describeSchema({ columns }: TableSchema, schemaId: number): IcebergSchema {
  const fields = columns.map(({ name, type, description }, index): IcebergField => {
    const id = index + 1;
    return { id, name, required: false, type: describeType(type, id), doc: description };
  });
  return { type: 'struct', 'schema-id': schemaId, fields };
}

function describeType(type: Column['type'], id: number): IcebergType {
  if (type !== 'VARCHAR[]') return TYPES[type];
  return { type: 'list', 'element-id': id + Number(LIST_ELEMENT_ID), element: 'string', 'element-required': false };
}

/** Builds the `schema.name-mapping.default`, which readers need for files of other programs without field ids. */
export function describeNames({ fields }: IcebergSchema): string {
  const names = fields.map(({ id, name, type }) => ({
    'field-id': id,
    names: [name],
    ...(typeof type === 'string' ? {} : { fields: [{ 'field-id': type['element-id'], names: ['element', 'item'] }] }),
  }));
  return JSON.stringify(names);
}

/** True if each column in `before` has the same id, name and type in `now`, so that both can share field ids. */
export function continuesSchema(before: IcebergSchema, now: IcebergSchema): boolean {
  const write = ({ id, name, type }: IcebergField) => JSON.stringify([id, name, type]);
  return before.fields.every((field) => {
    const same = now.fields.find(({ id }) => id === field.id);
    return same !== undefined && write(same) === write(field);
  });
}

export interface PartitionSpec {
  'spec-id': number;
  fields: { name: string; transform: 'identity'; 'source-id': number; 'field-id': number }[];
}

/** The id of the first partition field. Partition fields and columns are numbered separately. */
const FIRST_PARTITION_ID = 1000;

export function describePartitions(schema: TableSchema, partitionBy: readonly string[]): PartitionSpec {
  const fields = partitionBy.map((name, index) => ({
    name,
    transform: 'identity' as const,
    'source-id': findFieldId(schema, name),
    'field-id': FIRST_PARTITION_ID + index,
  }));
  return { 'spec-id': 0, fields };
}

export const lastPartitionId = ({ fields }: PartitionSpec): number => FIRST_PARTITION_ID + fields.length - 1;

export function findLastColumnId({ fields }: IcebergSchema): number {
  return Math.max(...fields.flatMap(({ id, type }) => (typeof type === 'string' ? [id] : [id, type['element-id']])));
}
