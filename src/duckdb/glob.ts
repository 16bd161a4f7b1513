/** A path for DuckDB's readers, which take `*`, `?` and `[` for patterns. */
export function escapeGlob(path: string): string {
  return path.replaceAll(/[*?[]/g, '[$&]');
}
