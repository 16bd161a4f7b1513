import { escapeGlob, quoteLiteral } from './quote.js';

/** Files that SQL reads by a function of DuckDB. A value, so that a process with other paths can write its text. */
export interface FileRead {
  readonly reader: 'read_parquet' | 'read_json';
  /** Absolute paths. */
  readonly files: readonly string[];
  /** Options as SQL. */
  readonly options: readonly string[];
  /** True to add column `filename`. */
  readonly hasNames: boolean;
}

/** A part of a text of SQL. */
export type Piece = string | FileRead;

/** Text for use after FROM. */
export function writeFileRead({ reader, files, options, hasNames }: FileRead): string {
  const list = files.map((path) => quoteLiteral(escapeGlob(path))).join(',\n  ');
  return `${reader}(${[`[${list}]`, ...options, ...(hasNames ? ['filename = true'] : [])].join(', ')})`;
}

/** As above, where `root` stands for the folder `home` of the process that the text comes from: column `filename` has paths of `home`. */
export function writeForeignRead(read: FileRead, { root, home }: { root: string; home: string }): string {
  const text = writeFileRead(read);
  if (!read.hasNames || root === home) return text;
  const name = `${quoteLiteral(home)} || substr(filename, length(${quoteLiteral(root)}) + 1)`;
  return `(SELECT * REPLACE (${name} AS filename) FROM ${text})`;
}
