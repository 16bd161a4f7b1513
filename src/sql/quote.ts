/** Quotes an identifier. Every identifier that is inserted into a statement must be quoted by this function. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes text as an SQL string, for COPY options and the table functions of views, where values can't be bound. */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) throw new TypeError("an SQL literal can't contain a NUL byte");
  return `'${text.replaceAll("'", "''")}'`;
}

/** Builds a list of SQL string literals: `['a', 'b']`. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map(quoteLiteral).join(', ')}]`;
}

/** Escapes a path for DuckDB's file readers, which use `*`, `?` and `[` for patterns. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}
