import type { Column, TableSchema } from '../tables/schemas.js';
import type { SqlDialect } from './sql-dialects.js';

/** `CREATE TABLE` of a table's contract in a database's words, with its descriptions. */
export function writeSql(schema: TableSchema, dialect: SqlDialect): string {
  const { table, description, key, partitionBy, columns } = schema;
  const { quote, inlineTable, layout, primaryKey } = dialect;
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  const isKeyPresent = key.length > 0 && key.every((name) => columns.some((c) => c.name === name && !c.nullable));
  const lines = [
    ...columns.map((column) => writeColumn(column, dialect)),
    ...(isKeyPresent && primaryKey !== undefined ? [primaryKey(key.map(quote).join(', '))] : []),
  ];
  const tail = `${layout?.(partitionBy, types) ?? ''}${inlineTable?.(description) ?? ''}`;
  const create = `CREATE TABLE ${quote(table)} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${tail};\n`;
  return create + (dialect.comments === 'statements' ? writeComments(schema, dialect) : '');
}

function writeColumn({ name, type, nullable, description }: Column, dialect: SqlDialect): string {
  const isRequired = !nullable && dialect.isAlwaysNullable?.(type) !== true;
  const comment = dialect.inlineColumn?.(description) ?? '';
  return `${dialect.quote(name)} ${dialect.types[type]}${isRequired ? ' NOT NULL' : ''}${comment}`;
}

function writeComments({ table, description, columns }: TableSchema, { quote, quoteText }: SqlDialect): string {
  const lines = columns.map(
    (column) => `COMMENT ON COLUMN ${quote(table)}.${quote(column.name)} IS ${quoteText(column.description)};\n`,
  );
  return `COMMENT ON TABLE ${quote(table)} IS ${quoteText(description)};\n${lines.join('')}`;
}
