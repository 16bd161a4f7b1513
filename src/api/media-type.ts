import type { Query } from './api-url.js';

/** `application/json`: every answer but a successful export (API document, section 1, rule 3). */
export const JSON_TYPE = 'application/json';

/** The media type that `/export` answers with (section 4): by `format`, `csv` being the default. */
export function exportType(query: Query): string {
  return query.format === 'ndjson' ? 'application/x-ndjson' : 'text/csv';
}

/** Checks a `Content-Type`: the type itself and, where one is given, that the charset is UTF-8. */
export function isMediaType(header: string | undefined, expected: string): boolean {
  const [type, ...parameters] = header?.toLowerCase().split(';') ?? [];
  const charset = parameters
    .map((text) => text.trim())
    .find((text) => text.startsWith('charset='))
    ?.slice('charset='.length);
  return type?.trim() === expected && (charset === undefined || /^"?utf-?8"?$/.test(charset));
}
