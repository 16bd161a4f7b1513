import { escapeGlob, quoteLiteral } from './quote.js';

/**
 * Files that SQL reads through a DuckDB function. Kept as data, so that a process with other paths can build the SQL.
 */
export interface FileRead {
  readonly reader: 'read_parquet' | 'read_json';
  /** The absolute paths. */
  readonly files: readonly string[];
  readonly options: readonly string[];
  /** True to add the `filename` column. */
  readonly hasNames: boolean;
}

export type Piece = string | FileRead;

/** Builds the expression that follows FROM. */
export function writeFileRead({ reader, files, options, hasNames }: FileRead): string {
  const list = files.map((path) => quoteLiteral(escapeGlob(path))).join(',\n  ');
  return `${reader}(${[`[${list}]`, ...options, ...(hasNames ? ['filename = true'] : [])].join(', ')})`;
}

/**
 * Builds the expression for a process in which the folder `home` is mounted as `root`. The `filename` column still has
 * paths in `home`.
 */
export function writeForeignRead(read: FileRead, { root, home }: { root: string; home: string }): string {
  const text = writeFileRead(read);
  if (!read.hasNames || root === home) return text;
  const name = `${quoteLiteral(home)} || substr(filename, length(${quoteLiteral(root)}) + 1)`;
  return `(SELECT * REPLACE (${name} AS filename) FROM ${text})`;
}
