/** Writes `"name"`. Identifiers get into statements only through this function. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Writes `'text'`, for places where a value can't be bound (COPY options, table-function arguments of a view). */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) throw new TypeError("an SQL literal can't contain a NUL byte");
  return `'${text.replaceAll("'", "''")}'`;
}

/** Writes `['a', 'b']`. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map(quoteLiteral).join(', ')}]`;
}

/** Escapes a path for DuckDB's readers, which take `*`, `?` and `[` for patterns. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}
