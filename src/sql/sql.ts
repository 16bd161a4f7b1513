import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import { escapeGlob, quoteIdentifier, quoteLiteral } from './quote.js';
import { Relation } from './relation.js';

export class Sql {
  readonly text: string;
  readonly reads: ReadonlySet<Relation>;

  constructor(text: string, reads: Iterable<Relation> = []) {
    this.text = text;
    this.reads = new Set(reads);
  }
}

export type Literal = string | bigint | number | boolean | null | readonly string[];
export type Part = Sql | Relation | Literal;

/** Builds SQL from a template. The inserted parts may be relations, SQL or values. Mark SQL text with `code`. */
export function sql(texts: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  const written = parts.map(writePart);
  return new Sql(
    texts.map((before, index) => `${before}${written[index]?.text ?? ''}`).join(''),
    written.flatMap(({ reads }) => [...reads]),
  );
}

function writePart(part: Part): Sql {
  if (part instanceof Sql) return part;
  if (part instanceof Relation) return new Sql(quoteIdentifier(part.name), [part]);
  return new Sql(writeLiteral(part));
}

/** Marks a text as SQL, such as a name from a schema, a quoted value or a condition. */
export const code = (text: string) => new Sql(text);

/**
 * Returns a FROM expression that reads files (absolute paths). `options` is SQL; `hasNames` adds a `filename` column.
 */
export function readFiles(
  reader: 'read_parquet' | 'read_json',
  files: readonly string[],
  options: readonly string[] = [],
  { hasNames = false } = {},
): Sql {
  const list = files.map((path) => quoteLiteral(escapeGlob(path))).join(',\n  ');
  return new Sql(`${reader}(${[`[${list}]`, ...options, ...(hasNames ? ['filename = true'] : [])].join(', ')})`);
}

/** Reads a view or table of the session, even if the query redefines the name of that table in WITH. */
export const itself = (name: string): Sql => code(`FROM main.${quoteIdentifier(name)}`);

export function join(parts: readonly Sql[], separator: string): Sql {
  return new Sql(
    parts.map(({ text }) => text).join(separator),
    parts.flatMap(({ reads }) => [...reads]),
  );
}

/** Lists a table's columns for a SELECT, except those in `but`. */
export function columnsOf(table: TableName, but: readonly string[] = []): Sql {
  const names = loadTableSchema(table).columns.map(({ name }) => name);
  return code(
    names
      .filter((name) => !but.includes(name))
      .map(quoteIdentifier)
      .join(', '),
  );
}

/** The JavaScript types of a model's values. null becomes a NULL of the declared type. */
export interface ValueTypes {
  VARCHAR: string;
  'VARCHAR[]': readonly string[];
  BIGINT: bigint;
  BOOLEAN: boolean;
  /** The length of the interval in microseconds. */
  INTERVAL: bigint;
}

export function writeTyped<T extends keyof ValueTypes>(type: T, value: ValueTypes[T] | null): string {
  if (value === null) return `CAST(NULL AS ${type})`;
  return type === 'INTERVAL' ? `to_microseconds(${value})` : `CAST(${writeLiteral(value as Literal)} AS ${type})`;
}

function writeLiteral(value: Literal): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return writeText(value);
  if (typeof value === 'bigint') return `CAST('${value}' AS BIGINT)`;
  if (typeof value === 'object') return `[${value.map(writeText).join(', ')}]`;
  return String(value);
}

/** Quotes text that may contain a NUL byte, which an SQL string can't contain. */
function writeText(text: string): string {
  return text.split('\0').map(quoteLiteral).join(' || chr(0) || ');
}

/** Lists the columns of `table` whose names occur in the SQL statements, so that scans needn't read all columns. */
export function selectNamedColumns(table: TableName, texts: readonly string[]): string {
  const words = new Set(texts.flatMap((text) => text.match(/\w+/gu) ?? []));
  const columns = loadTableSchema(table).columns.filter(({ name }) => words.has(name));
  return columns.map(({ name }) => quoteIdentifier(name)).join(', ');
}
