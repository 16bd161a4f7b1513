import { createRequire } from 'node:module';

/**
 * The bindings decode every text with a TextDecoder that drops a U+FEFF at its beginning. Titles of shops do begin
 * with it, and a dropped one makes a wrong value, and wrong bounds in statistics.
 */
export function keepByteOrderMarks(): void {
  const accessors: unknown = createRequire(import.meta.url)('@duckdb/node-api/lib/vectors/dataAccessors.js');
  Object.assign(accessors as object, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) });
}
