import accessors from '@duckdb/node-api/lib/vectors/dataAccessors.js';

/**
 * The bindings decode every text with a TextDecoder that drops a U+FEFF at its beginning. Titles of shops do begin
 * with it, and a dropped one makes a wrong value, and wrong bounds in statistics.
 */
export function keepByteOrderMarks(): void {
  Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) });
}
