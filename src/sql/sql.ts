import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import { type FileRead, type Piece, writeFileRead } from './file-read.js';
import { quoteIdentifier, quoteLiteral } from './quote.js';
import { Relation } from './relation.js';

/** Text of SQL, with the files and the relations that it reads. */
export class Sql {
  readonly pieces: readonly Piece[];
  readonly reads: ReadonlySet<Relation>;
  #text: string | undefined;

  constructor(pieces: string | readonly Piece[], reads: Iterable<Relation> = []) {
    this.pieces = typeof pieces === 'string' ? [pieces] : pieces;
    this.reads = new Set(reads);
  }

  /** The text for DuckDB in this process. */
  get text(): string {
    this.#text ??= this.pieces.map((piece) => (typeof piece === 'string' ? piece : writeFileRead(piece))).join('');
    return this.#text;
  }
}

/** A value to write as a literal. */
export type Literal = string | bigint | number | boolean | null | readonly string[];
export type Part = Sql | Relation | Literal;

/** SQL with relations, other SQL and values in its gaps. A string in a gap is a value; use `code` for SQL. */
export function sql(texts: TemplateStringsArray, ...parts: readonly Part[]): Sql {
  const written = parts.map(writePart);
  return new Sql(
    joinTexts(texts.flatMap((before, index) => [before, ...(written[index]?.pieces ?? [])])),
    written.flatMap(({ reads }) => [...reads]),
  );
}

/** Joins neighbouring texts: most SQL is one. */
function joinTexts(pieces: readonly Piece[]): Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece;
    else joined.push(piece);
  }
  return joined;
}

function writePart(part: Part): Sql {
  if (part instanceof Sql) return part;
  if (part instanceof Relation) return new Sql(quoteIdentifier(part.name), [part]);
  return new Sql(writeLiteral(part));
}

/** Text that is SQL already: names from schemas, quoted values and predicates. */
export const code = (text: string) => new Sql(text);

/** Rows of files. Only files that are read so can be read in another process. */
export function readFiles(
  reader: FileRead['reader'],
  files: readonly string[],
  options: readonly string[] = [],
  { hasNames = false } = {},
): Sql {
  return new Sql([{ reader, files, options, hasNames }]);
}

/** The session's own view or table of this name, even in a query that shows other rows under it. */
export const itself = (name: string): Sql => code(`FROM main.${quoteIdentifier(name)}`);

/** The parts with a separator between them. */
export function join(parts: readonly Sql[], separator: string): Sql {
  return new Sql(
    joinTexts(parts.flatMap(({ pieces }, index) => (index === 0 ? pieces : [separator, ...pieces]))),
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
