import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import type { Column } from '../tables/schemas.js';

/** True if the column contains JSON, according to its description. */
export function holdsJson({ type, description }: Pick<Column, 'type' | 'description'>): boolean {
  return type === 'VARCHAR' && /\bJSON text of\b/.test(description);
}

/** The replacement for U+0000, which text in PostgreSQL can't contain. */
const REPLACEMENT = quoteLiteral('\ufffd');

/**
 * Returns SQL with which DuckDB writes rows in the text format of PostgreSQL's COPY: exact digits, UTC timestamps,
 * arrays for lists, and `\N` for null. Replaces U+0000 with U+FFFD, because PostgreSQL rejects U+0000 in text and
 * jsonb.
 */
export function writeCopyText(select: string, columns: readonly Column[], file: string): string {
  const values = columns.map((column) => `${writeValue(column)} AS ${quoteIdentifier(column.name)}`);
  return `COPY (SELECT ${values.join(', ')} FROM (${select})) TO ${quoteLiteral(file)}
    (FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '', ESCAPE '', NULLSTR '\\N')`;
}

function writeValue(column: Column): string {
  const name = quoteIdentifier(column.name);
  if (column.type === 'VARCHAR[]') return escapeText(writeArray(name));
  if (column.type !== 'VARCHAR') return `CAST(${name} AS VARCHAR)`;
  return escapeText(holdsJson(column) ? replaceJsonNull(name) : name);
}

function writeArray(name: string): string {
  const quoted = `'"' || replace(replace(e, '\\', '\\\\'), '"', '\\"') || '"'`;
  return `'{' || array_to_string(list_transform(${name}, lambda e: CASE WHEN e IS NULL THEN 'NULL' ELSE ${quoted} END), ',') || '}'`;
}

/**
 * Replaces escaped U+0000 characters in JSON. Replaces twice, because adjacent matches overlap by one character. A
 * backslash that is itself escaped doesn't start an escape.
 */
function replaceJsonNull(name: string): string {
  const once = (text: string) =>
    `regexp_replace(${text}, '((?:^|[^\\\\])(?:\\\\\\\\)*)\\\\u0000', '\\1\\\\ufffd', 'g')`;
  return once(once(name));
}

/** Escapes backslashes first, because escaped line breaks and tabs contain backslashes. */
function escapeText(text: string): string {
  const escapes: [string, string][] = [
    ['chr(0)', REPLACEMENT],
    ["'\\'", "'\\\\'"],
    ['chr(10)', "'\\n'"],
    ['chr(13)', "'\\r'"],
    ['chr(9)', "'\\t'"],
  ];
  return escapes.reduce((sql, [from, to]) => `replace(${sql}, ${from}, ${to})`, text);
}
