import type { Column, ColumnType } from '../tables/schemas.js';

/** SQL of a database for a table's contract. */
export interface SqlDialect {
  types: Record<ColumnType, string>;
  /** Replaces the type from `types` for one column. */
  typeOf?: (column: Column) => string | undefined;
  quote: (name: string) => string;
  quoteText: (text: string) => string;
  /** Descriptions stand in the columns or in separate statements. */
  comments: 'inline' | 'statements';
  /** Used for `comments: 'inline'`, as is `inlineTable`. */
  inlineColumn?: (text: string) => string;
  inlineTable?: (text: string) => string;
  /** Undefined if the database would enforce the key and slow down loading. */
  primaryKey?: (columns: string) => string;
  /** Clauses after the columns, for the columns that partition the lake's table. */
  layout?: (partitionBy: string[], types: Record<string, ColumnType>) => string;
  /** True if columns of this type can't be NOT NULL. */
  isAlwaysNullable?: (type: ColumnType) => boolean;
}

const doubleQuotes = (name: string) => `"${name.replaceAll('"', '""')}"`;
const backticks = (name: string) => `\`${name}\``;
/** Databricks doubles backticks in names. */
const doubleBackticks = (name: string) => `\`${name.replaceAll('`', '``')}\``;
const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;
const quoteSpark = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Texts of Snowflake and Redshift have backslash escapes. */
const quoteBackslashes = (text: string) => quoteText(text.replaceAll('\\', '\\\\'));
const quoteEscaped = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const key = (columns: string) => `PRIMARY KEY (${columns})`;

export const SQL_DIALECTS = {
  ddl: {
    types: {
      BIGINT: 'BIGINT',
      VARCHAR: 'VARCHAR',
      'DECIMAL(18,4)': 'DECIMAL(18,4)',
      'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP WITH TIME ZONE',
      DATE: 'DATE',
      BOOLEAN: 'BOOLEAN',
      DOUBLE: 'DOUBLE',
      'VARCHAR[]': 'VARCHAR[]',
    },
    quote: doubleQuotes,
    quoteText,
    comments: 'statements',
  },
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
    comments: 'statements',
    primaryKey: key,
  },
  snowflake: {
    types: {
      BIGINT: 'BIGINT',
      VARCHAR: 'VARCHAR',
      'DECIMAL(18,4)': 'NUMBER(18,4)',
      'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP_TZ(6)',
      DATE: 'DATE',
      BOOLEAN: 'BOOLEAN',
      DOUBLE: 'DOUBLE',
      'VARCHAR[]': 'ARRAY',
    },
    // Unquoted names are upper case, so a quoted one in upper case is the same.
    quote: (name) => doubleQuotes(name.toUpperCase()),
    quoteText: quoteBackslashes,
    comments: 'inline',
    inlineColumn: (text) => ` COMMENT ${quoteBackslashes(text)}`,
    inlineTable: (text) => ` COMMENT = ${quoteBackslashes(text)}`,
    primaryKey: (columns) => `${key(columns)} NOT ENFORCED`,
    layout: (partitionBy) =>
      partitionBy.length === 0
        ? ''
        : ` CLUSTER BY (${partitionBy.map((name) => doubleQuotes(name.toUpperCase())).join(', ')})`,
  },
  redshift: {
    types: {
      BIGINT: 'BIGINT',
      VARCHAR: 'VARCHAR(MAX)',
      'DECIMAL(18,4)': 'DECIMAL(18,4)',
      'TIMESTAMP WITH TIME ZONE': 'TIMESTAMPTZ',
      DATE: 'DATE',
      BOOLEAN: 'BOOLEAN',
      DOUBLE: 'DOUBLE PRECISION',
      'VARCHAR[]': 'SUPER',
    },
    quote: doubleQuotes,
    quoteText: quoteBackslashes,
    comments: 'statements',
    primaryKey: key,
    layout: (partitionBy) => (partitionBy.length === 0 ? '' : ` SORTKEY (${partitionBy.map(doubleQuotes).join(', ')})`),
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
    comments: 'inline',
    inlineColumn: (text) => ` OPTIONS (description = ${quoteEscaped(text)})`,
    inlineTable: (text) => `\nOPTIONS (description = ${quoteEscaped(text)})`,
    primaryKey: (columns) => `${key(columns)} NOT ENFORCED`,
    layout: layOutBigQuery,
    isAlwaysNullable: (type) => type === 'VARCHAR[]',
  },
  databricks: {
    types: {
      BIGINT: 'BIGINT',
      VARCHAR: 'STRING',
      'DECIMAL(18,4)': 'DECIMAL(18,4)',
      'TIMESTAMP WITH TIME ZONE': 'TIMESTAMP',
      DATE: 'DATE',
      BOOLEAN: 'BOOLEAN',
      DOUBLE: 'DOUBLE',
      'VARCHAR[]': 'ARRAY<STRING>',
    },
    quote: doubleBackticks,
    quoteText: quoteSpark,
    comments: 'inline',
    inlineColumn: (text) => ` COMMENT ${quoteSpark(text)}`,
    inlineTable: (text) => `\nCOMMENT ${quoteSpark(text)}`,
    layout: (partitionBy) =>
      partitionBy.length === 0 ? '' : `\nCLUSTER BY (${partitionBy.map(doubleBackticks).join(', ')})`,
  },
} satisfies Record<string, SqlDialect>;

/** BigQuery partitions by days and clusters by other columns. */
function layOutBigQuery(partitionBy: string[], types: Record<string, ColumnType>): string {
  const day = partitionBy.find((name) => types[name] === 'DATE');
  const others = partitionBy.filter((name) => name !== day);
  const clauses = [
    ...(day === undefined ? [] : [`PARTITION BY ${backticks(day)}`]),
    ...(others.length === 0 ? [] : [`CLUSTER BY ${others.map(backticks).join(', ')}`]),
  ];
  return clauses.map((clause) => `\n${clause}`).join('');
}
