/** Quotes an identifier. Identifiers must be added to statements only through this function. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Quotes text as an SQL string, for places where values can't be bound (COPY options, table functions in a view). */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) throw new TypeError("an SQL literal can't contain a NUL byte");
  return `'${text.replaceAll("'", "''")}'`;
}

/** Builds a list of SQL strings: `['a', 'b']`. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map(quoteLiteral).join(', ')}]`;
}

/** Escapes a path for DuckDB's readers, which treat `*`, `?` and `[` as patterns. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}
