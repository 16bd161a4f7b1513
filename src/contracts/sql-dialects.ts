import type { Column, ColumnType } from '../tables/schemas.js';

/** How a database writes a table's contract. */
export interface SqlDialect {
  types: Record<ColumnType, string>;
  /** The type of one column, where it is another than `types` says. */
  typeOf?: (column: Column) => string | undefined;
  quote: (name: string) => string;
  quoteText: (text: string) => string;
  /** Where descriptions are: in the column, or in separate statements. */
  comments: 'inline' | 'statements';
  /** Text behind a column or a table, for `comments: 'inline'`. */
  inlineColumn?: (text: string) => string;
  inlineTable?: (text: string) => string;
  /** The clause of the primary key, or undefined where the database would enforce it at the cost of loading. */
  primaryKey?: (columns: string) => string;
  /** Clauses behind the columns, for the columns that name the lake's folders. */
  layout?: (partitionBy: string[], types: Record<string, ColumnType>) => string;
  /** Columns of this type can't be declared NOT NULL. */
  isAlwaysNullable?: (type: ColumnType) => boolean;
}

const doubleQuotes = (name: string) => `"${name.replaceAll('"', '""')}"`;
const backticks = (name: string) => `\`${name}\``;
/** Databricks doubles a backtick in a name. */
const doubleBackticks = (name: string) => `\`${name.replaceAll('`', '``')}\``;
const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;
const quoteSpark = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Snowflake's and Redshift's texts have escapes, as BigQuery's have. */
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
    // In upper case a quoted name is the same as one without quotes.
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

/** BigQuery partitions by days; other columns cluster. */
function layOutBigQuery(partitionBy: string[], types: Record<string, ColumnType>): string {
  const day = partitionBy.find((name) => types[name] === 'DATE');
  const others = partitionBy.filter((name) => name !== day);
  const clauses = [
    ...(day === undefined ? [] : [`PARTITION BY ${backticks(day)}`]),
    ...(others.length === 0 ? [] : [`CLUSTER BY ${others.map(backticks).join(', ')}`]),
  ];
  return clauses.map((clause) => `\n${clause}`).join('');
}
