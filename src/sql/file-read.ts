import { escapeGlob, quoteLiteral } from './quote.js';

/**
 * Files that SQL reads through a DuckDB function. It is a value, so that a process with other paths can write the SQL.
 */
export interface FileRead {
  readonly reader: 'read_parquet' | 'read_json';
  /** Absolute paths. */
  readonly files: readonly string[];
  readonly options: readonly string[];
  /** True to add the column `filename`. */
  readonly hasNames: boolean;
}

export type Piece = string | FileRead;

/** Writes the text after FROM. */
export function writeFileRead({ reader, files, options, hasNames }: FileRead): string {
  const list = files.map((path) => quoteLiteral(escapeGlob(path))).join(',\n  ');
  return `${reader}(${[`[${list}]`, ...options, ...(hasNames ? ['filename = true'] : [])].join(', ')})`;
}

/**
 * Writes the text for a process in which `root` stands for the folder `home`. The column `filename` then has paths in
 * `home`.
 */
export function writeForeignRead(read: FileRead, { root, home }: { root: string; home: string }): string {
  const text = writeFileRead(read);
  if (!read.hasNames || root === home) return text;
  const name = `${quoteLiteral(home)} || substr(filename, length(${quoteLiteral(root)}) + 1)`;
  return `(SELECT * REPLACE (${name} AS filename) FROM ${text})`;
}
