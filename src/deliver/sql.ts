import type { Column, TableSchema } from '../tables/schemas.js';
import type { SqlDialect } from './sql-dialects.js';

interface SqlOptions {
  /** SQL of the table's name, e.g. with its schema; default its name alone. */
  name?: string;
  /** True to keep a table that exists. */
  ifMissing?: boolean;
}

/** Writes `CREATE TABLE` with descriptions. */
export function writeSql(schema: TableSchema, dialect: SqlDialect, options: SqlOptions = {}): string {
  const { description, key, partitionBy, columns } = schema;
  const { name = dialect.quote(schema.table), ifMissing = false } = options;
  const { quote, inlineTable, layout, primaryKey } = dialect;
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  const isKeyPresent = key.length > 0 && key.every((name) => columns.some((c) => c.name === name && !c.nullable));
  const lines = [
    ...columns.map((column) => writeColumn(column, dialect)),
    ...(isKeyPresent && primaryKey !== undefined ? [primaryKey(key.map(quote).join(', '))] : []),
  ];
  const tail = `${layout?.(partitionBy, types) ?? ''}${inlineTable?.(description) ?? ''}`;
  const create = `CREATE TABLE ${ifMissing ? 'IF NOT EXISTS ' : ''}${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${tail};\n`;
  return create + (dialect.comments === 'statements' ? writeComments(schema, dialect, name) : '');
}

export function writeType(column: Column, { types, typeOf }: SqlDialect): string {
  return typeOf?.(column) ?? types[column.type];
}

function writeColumn(column: Column, dialect: SqlDialect): string {
  const { name, type, nullable, description } = column;
  const isRequired = !nullable && dialect.isAlwaysNullable?.(type) !== true;
  const comment = dialect.inlineColumn?.(description) ?? '';
  return `${dialect.quote(name)} ${writeType(column, dialect)}${isRequired ? ' NOT NULL' : ''}${comment}`;
}

function writeComments({ description, columns }: TableSchema, { quote, quoteText }: SqlDialect, name: string): string {
  const lines = columns.map(
    (column) => `COMMENT ON COLUMN ${name}.${quote(column.name)} IS ${quoteText(column.description)};\n`,
  );
  return `COMMENT ON TABLE ${name} IS ${quoteText(description)};\n${lines.join('')}`;
}
