import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import { escapeGlob, quoteIdentifier, quoteLiteral } from './quote.js';
import { Relation } from './relation.js';

/** Text of SQL, with the relations that it reads. */
export class Sql {
  readonly text: string;
  readonly reads: ReadonlySet<Relation>;

  constructor(text: string, reads: Iterable<Relation> = []) {
    this.text = text;
    this.reads = new Set(reads);
  }
}

/** A value to write as a literal. */
export type Literal = string | bigint | number | boolean | null | readonly string[];
export type Part = Sql | Relation | Literal;

/** SQL with relations, other SQL and values in its gaps. A string in a gap is a value; use `code` for SQL. */
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

/** Text that is SQL already: names from schemas, quoted values and predicates. */
export const code = (text: string) => new Sql(text);

/** Rows of files (absolute paths), for use after FROM. `options` are SQL; `hasNames` adds the column `filename`. */
export function readFiles(
  reader: 'read_parquet' | 'read_json',
  files: readonly string[],
  options: readonly string[] = [],
  { hasNames = false } = {},
): Sql {
  const list = files.map((path) => quoteLiteral(escapeGlob(path))).join(',\n  ');
  return new Sql(`${reader}(${[`[${list}]`, ...options, ...(hasNames ? ['filename = true'] : [])].join(', ')})`);
}

/** The session's own view or table of this name, even in a query that shows other rows under it. */
export const itself = (name: string): Sql => code(`FROM main.${quoteIdentifier(name)}`);

/** The parts with a separator between them. */
export function join(parts: readonly Sql[], separator: string): Sql {
  return new Sql(
    parts.map(({ text }) => text).join(separator),
    parts.flatMap(({ reads }) => [...reads]),
  );
}

/** The table's columns as a select list; `but` are left out. */
export function columnsOf(table: TableName, but: readonly string[] = []): Sql {
  const names = loadTableSchema(table).columns.map(({ name }) => name);
  return code(
    names
      .filter((name) => !but.includes(name))
      .map(quoteIdentifier)
      .join(', '),
  );
}

/** Types of the values that models take → types here; null is a null of the type. */
export interface ValueTypes {
  VARCHAR: string;
  'VARCHAR[]': readonly string[];
  BIGINT: bigint;
  BOOLEAN: boolean;
  /** In microseconds. */
  INTERVAL: bigint;
}

/** A value of a type as a literal. */
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

/** A SQL literal can't hold a NUL byte. */
function writeText(text: string): string {
  return text.split('\0').map(quoteLiteral).join(' || chr(0) || ');
}

/**
 * The columns of `table` that one of the SQL texts names, as a select list. Rows of `items` are wide, so a scan should read
 * only the columns that a text needs.
 */
export function selectNamedColumns(table: TableName, texts: readonly string[]): string {
  const words = new Set(texts.flatMap((text) => text.match(/\w+/gu) ?? []));
  const columns = loadTableSchema(table).columns.filter(({ name }) => words.has(name));
  return columns.map(({ name }) => quoteIdentifier(name)).join(', ');
}
