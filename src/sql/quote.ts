/** `"name"` for SQL: the only way an identifier gets into a statement. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** `'text'` for SQL, where a value can't be bound (COPY options, table-function arguments of a view). */
export function quoteLiteral(text: string): string {
  if (text.includes('\0')) throw new TypeError("an SQL literal can't contain a NUL byte");
  return `'${text.replaceAll("'", "''")}'`;
}

/** `['a', 'b']` for SQL. */
export function quoteList(texts: readonly string[]): string {
  return `[${texts.map(quoteLiteral).join(', ')}]`;
}

/** A path for DuckDB's readers, which take `*`, `?` and `[` for patterns. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}
