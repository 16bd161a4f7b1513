import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import { quoteIdentifier, quoteLiteral } from './quote.js';
import { Relation } from './relation.js';

/** Text of SQL, and the relations that it reads. */
export class Sql {
  readonly text: string;
  readonly reads: ReadonlySet<Relation>;

  constructor(text: string, reads: Iterable<Relation> = []) {
    this.text = text;
    this.reads = new Set(reads);
  }
}

/** A value that SQL gets as a literal. */
export type Literal = string | bigint | number | boolean | null | readonly string[];
export type Part = Sql | Relation | Literal;

/** SQL with relations, other SQL and values in its gaps. A text in a gap is a value: SQL that code writes is `code`. */
export function sql(texts: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  const written = parts.map(writePart);
  const text = texts.map((before, index) => before + (written[index]?.text ?? '')).join('');
  return new Sql(
    text,
    written.flatMap(({ reads }) => [...reads]),
  );
}

function writePart(part: Part): Sql {
  if (part instanceof Sql) return part;
  if (part instanceof Relation) return new Sql(quoteIdentifier(part.name), [part]);
  return new Sql(writeLiteral(part));
}

/** SQL that code has written: names from schemas, paths and predicates that are quoted already. */
export const code = (text: string) => new Sql(text);

/** The view or table of a session that has this name: a query that shows other rows under it may read it. */
export const itself = (name: string): Sql => code(`FROM memory.main.${quoteIdentifier(name)}`);

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

/** Types of the values that models take, and the value that each is made of; null is a null of the type. */
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
