import { PricelakeError } from '../io/errors.js';
import { type Severity, TABLE_NAMES, type TableName } from '../tables/table.js';

export const SEVERITIES = ['gate', 'error', 'warn'] as const satisfies readonly Severity[];
export const PARAMETER_TYPES = ['BIGINT', 'DOUBLE', 'VARCHAR'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];
export type ParameterValue = string | number;

/** A threshold of a check that the pipeline file can set. The check's SQL calls it `$name`. */
export interface CheckParameter {
  name: string;
  type: ParameterType;
  default: ParameterValue;
  meaning: string;
}

export interface Check {
  name: string;
  severity: Severity;
  description: string;
  /** The text that follows the number of violations, such as `[price is|prices are] below zero`. */
  found?: string | undefined;
  /** Advice for the user if the check fails. */
  next: string;
  parameters: CheckParameter[];
  /**
   * The rows of items that determine whether a row is a violation: for `row`, only the row itself; for a list of
   * columns, the rows with the same values in these columns; if undefined, all rows. Only checks that come with
   * pricelake have a scope.
   */
  scope: 'row' | readonly string[] | undefined;
  /**
   * A column of items. In a run, the check reads only rows of items and history whose value in this column also occurs
   * in rows that the run changes. With `run_id`, it reads only rows that the run writes, in any table.
   */
  withinRun: string | undefined;
  sql: string;
  file: string;
}

export interface CheckSettings {
  [name: string]: {
    severity?: Severity | 'off' | undefined;
    parameters?: Record<string, ParameterValue> | undefined;
  };
}

/** Describes why a value doesn't have a parameter's type; undefined if it has this type. */
export function explainMisfit(value: ParameterValue, type: ParameterType): string | undefined {
  const given = typeof value === 'string' ? 'text' : 'a number';
  if (type === 'VARCHAR') return typeof value === 'string' ? undefined : `must be text, not ${given}`;
  if (type === 'BIGINT') return Number.isSafeInteger(value) ? undefined : `must be an integer, not ${given}`;
  return Number.isFinite(value) ? undefined : `must be a number, not ${given}`;
}

const COMMENT_LINE = /^\s*--.*$/gmu;

/**
 * Returns the tables whose names occur in a check's SQL. The result may include a table whose name is only used for a
 * column, but includes every table that the SQL reads. DuckDB's `getTableNames` isn't used, because it returns no
 * tables for SQL with `USING` or parameters.
 */
export function findReadTables(sql: string): TableName[] {
  const words = new Set(sql.replace(COMMENT_LINE, '').toLowerCase().match(/\w+/gu) ?? []);
  return TABLE_NAMES.filter((table) => words.has(table));
}

/** Matches the errors of DuckDB that aren't caused by a check's SQL. */
const NOT_ITS_OWN = /^(Out of Memory|IO|INTERRUPT|INTERNAL|FATAL|HTTP|Permission) Error/u;

/**
 * True for an error about a file that the SQL names. Such a file belongs to the user, because the lake's files are only
 * read through views.
 */
const isOwnFile = (text: string, sql: string) =>
  text.startsWith('IO Error') && [...text.matchAll(/"([^"]+)"/gu)].some(([, name = '']) => sql.includes(name));

/** Adds the file and the line to an error that the check's SQL has caused. Returns other errors unchanged. */
export function explainCheckError({ file, sql }: Pick<Check, 'file' | 'sql'>, cause: unknown): unknown {
  const text = cause instanceof Error ? cause.message.replace('Failed to extract statements: ', '') : '';
  if (cause instanceof PricelakeError) return cause;
  // DuckDB's bindings report only this if the text contains no statement.
  if (text === 'Error in native callback')
    return new PricelakeError('config', `${file}: the file contains no SQL`, {}, { cause });
  if (!/^[A-Z][\w ]* Error: /u.test(text)) return cause;
  if (NOT_ITS_OWN.test(text) && !isOwnFile(text, sql)) return cause;
  const [reason = '', line] = text.split(/\nLINE (\d+): /u);
  const where = line === undefined ? file : `${file}:${line}`;
  const message = `${where}: can't run the check: ${reason.trim()}`;
  return new PricelakeError('config', message, {}, { cause });
}
