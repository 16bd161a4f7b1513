import type { Column, ColumnType, TableSchema } from '../tables/schemas.js';

/** The SQL that a database needs for a table's contract. */
export interface SqlDialect {
  types: Record<ColumnType, string>;
  /** Returns the type of a column that is an exception to `types`; undefined for other columns. */
  typeOf?: (column: Column) => string | undefined;
  quote: (name: string) => string;
  quoteText: (text: string) => string;
  /**
   * Returns clauses that add a description to a column or a table. If undefined, separate statements add the
   * descriptions.
   */
  comment?: Record<'column' | 'table', (text: string) => string>;
  /** Returns the primary key clause; undefined to declare none, for example because enforcing it slows down loading. */
  primaryKey?: (columns: string) => string;
  /**
   * Returns a digest of a text column in the key, for a database whose index can't contain long texts. A key with text
   * columns then becomes a unique index over digests.
   */
  digest?: (column: string) => string;
  /** Returns clauses that follow the column list. They cluster or partition by the lake's partition columns. */
  layout?: (partitionBy: string[], types: Record<string, ColumnType>) => string;
  /** True if columns of this type can't be NOT NULL. */
  isAlwaysNullable?: (type: ColumnType) => boolean;
}

const doubleQuotes = (name: string) => `"${name.replaceAll('"', '""')}"`;
const backticks = (name: string) => `\`${name.replaceAll('`', '``')}\``;
/** Writes names in upper case, because Snowflake converts unquoted names to upper case, and quoted names must match. */
const upperCase = (name: string) => doubleQuotes(name.toUpperCase());
const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;
const quoteSpark = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Snowflake and Redshift interpret backslash escapes in strings. */
const quoteBackslashes = (text: string) => quoteText(text.replaceAll('\\', '\\\\'));
const quoteEscaped = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const key = (columns: string) => `PRIMARY KEY (${columns})`;
const keyNotEnforced = (columns: string) => `${key(columns)} NOT ENFORCED`;
const layOut = (clause: string, quote: SqlDialect['quote']) => (partitionBy: string[]) =>
  partitionBy.length === 0 ? '' : `${clause} (${partitionBy.map(quote).join(', ')})`;

const TYPES: Record<ColumnType, string> = {
  BIGINT: 'BIGINT',
  VARCHAR: 'VARCHAR',
  'DECIMAL(18,4)': 'DECIMAL(18,4)',
  'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP WITH TIME ZONE',
  DATE: 'DATE',
  BOOLEAN: 'BOOLEAN',
  DOUBLE: 'DOUBLE',
  'VARCHAR[]': 'VARCHAR[]',
};

export const SQL_DIALECTS = {
  ddl: { types: TYPES, quote: doubleQuotes, quoteText },
  postgres: {
    types: {
      BIGINT: 'bigint',
      VARCHAR: 'text',
      'DECIMAL(18,4)': 'numeric(18,4)',
      'TIMESTAMP WITH TIME ZONE': 'timestamp with time zone',
      DATE: 'date',
      BOOLEAN: 'boolean',
      DOUBLE: 'double precision',
      'VARCHAR[]': 'text[]',
    },
    quote: doubleQuotes,
    quoteText,
    primaryKey: key,
    // Uses two digests, because a shop could craft strings that have the same MD5 digest.
    digest: (column) => `md5(${column}), md5('#' || ${column})`,
  },
  snowflake: {
    types: {
      ...TYPES,
      'DECIMAL(18,4)': 'NUMBER(18,4)',
      'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP_TZ(6)',
      'VARCHAR[]': 'ARRAY',
    },
    quote: upperCase,
    quoteText: quoteBackslashes,
    comment: {
      column: (text) => ` COMMENT ${quoteBackslashes(text)}`,
      table: (text) => ` COMMENT = ${quoteBackslashes(text)}`,
    },
    primaryKey: keyNotEnforced,
    layout: layOut(' CLUSTER BY', upperCase),
  },
  redshift: {
    types: {
      ...TYPES,
      VARCHAR: 'VARCHAR(MAX)',
      'TIMESTAMP WITH TIME ZONE': 'TIMESTAMPTZ',
      DOUBLE: 'DOUBLE PRECISION',
      'VARCHAR[]': 'SUPER',
    },
    quote: doubleQuotes,
    quoteText: quoteBackslashes,
    primaryKey: key,
    layout: layOut(' SORTKEY', doubleQuotes),
  },
  bigquery: {
    types: {
      BIGINT: 'INT64',
      VARCHAR: 'STRING',
      'DECIMAL(18,4)': 'NUMERIC(18,4)',
      'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP',
      DATE: 'DATE',
      BOOLEAN: 'BOOL',
      DOUBLE: 'FLOAT64',
      'VARCHAR[]': 'ARRAY<STRING>',
    },
    quote: backticks,
    quoteText: quoteEscaped,
    comment: {
      column: (text) => ` OPTIONS (description = ${quoteEscaped(text)})`,
      table: (text) => `\nOPTIONS (description = ${quoteEscaped(text)})`,
    },
    primaryKey: keyNotEnforced,
    // Partitions by the day, and clusters by the other partition columns of the lake.
    layout: (partitionBy, types) => {
      const day = partitionBy.find((name) => types[name] === 'DATE');
      const clusterKeys = partitionBy.filter((name) => name !== day);
      const partition = day === undefined ? '' : `\nPARTITION BY ${backticks(day)}`;
      return `${partition}${clusterKeys.length === 0 ? '' : `\nCLUSTER BY ${clusterKeys.map(backticks).join(', ')}`}`;
    },
    isAlwaysNullable: (type) => type === 'VARCHAR[]',
  },
  databricks: {
    types: { ...TYPES, VARCHAR: 'STRING', 'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP', 'VARCHAR[]': 'ARRAY<STRING>' },
    quote: backticks,
    quoteText: quoteSpark,
    comment: {
      column: (text) => ` COMMENT ${quoteSpark(text)}`,
      table: (text) => `\nCOMMENT ${quoteSpark(text)}`,
    },
    layout: layOut('\nCLUSTER BY', backticks),
  },
} satisfies Record<string, SqlDialect>;

/** Formats `CREATE TABLE` with descriptions. */
export function writeSql(schema: TableSchema, dialect: SqlDialect): string {
  const statements = writeStatements(schema, dialect, 'CREATE TABLE', dialect.quote(schema.table));
  return statements.map((statement) => `${statement};\n`).join('');
}

/** Returns the SQL of `writeSql` as separate statements. `name` is inserted as SQL, and may include the schema. */
export function writeStatements(
  schema: TableSchema,
  dialect: SqlDialect,
  create: 'CREATE TABLE' | 'CREATE TABLE IF NOT EXISTS',
  name: string,
): string[] {
  const { description, key, partitionBy, columns } = schema;
  const { quote, quoteText, comment, layout, primaryKey, digest } = dialect;
  const types = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  const isKeyPresent = key.length > 0 && key.every((name) => columns.some((c) => c.name === name && !c.nullable));
  const hasDigests = isKeyPresent && digest !== undefined && key.some((one) => types[one] === 'VARCHAR');
  const lines = [
    ...columns.map((column) => writeColumn(column, dialect)),
    ...(isKeyPresent && primaryKey !== undefined && !hasDigests ? [primaryKey(key.map(quote).join(', '))] : []),
  ];
  const tail = `${layout?.(partitionBy, types) ?? ''}${comment?.table(description) ?? ''}`;
  const statement = `${create} ${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${tail}`;
  if (comment !== undefined) return [statement];
  const digests = key.map((one) => (types[one] === 'VARCHAR' ? digest?.(quote(one)) : quote(one))).join(', ');
  const index = create.replace('CREATE TABLE', 'CREATE UNIQUE INDEX');
  return [
    statement,
    ...(hasDigests ? [`${index} ${quote(`${schema.table}_key`)} ON ${name} (${digests})`] : []),
    `COMMENT ON TABLE ${name} IS ${quoteText(description)}`,
    ...columns.map((column) => `COMMENT ON COLUMN ${name}.${quote(column.name)} IS ${quoteText(column.description)}`),
  ];
}

export function writeType(column: Column, { types, typeOf }: SqlDialect): string {
  return typeOf?.(column) ?? types[column.type];
}

function writeColumn(column: Column, dialect: SqlDialect): string {
  const { name, type, nullable, description } = column;
  const isRequired = !nullable && dialect.isAlwaysNullable?.(type) !== true;
  const comment = dialect.comment?.column(description) ?? '';
  return `${dialect.quote(name)} ${writeType(column, dialect)}${isRequired ? ' NOT NULL' : ''}${comment}`;
}
