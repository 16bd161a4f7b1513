import { PricelakeError } from '../io/errors.js';
import { type Severity, TABLE_NAMES, type TableName } from '../tables/table.js';

export const SEVERITIES = ['gate', 'error', 'warn'] as const satisfies readonly Severity[];
export const PARAMETER_TYPES = ['BIGINT', 'DOUBLE', 'VARCHAR'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];
export type ParameterValue = string | number;

/** A check threshold that the pipeline file can set. The check's SQL refers to it as `$name`. */
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
  /** The text to show after the number of violations: `[price is|prices are] below zero`. */
  found?: string | undefined;
  /** The recommended action if the check fails. */
  next: string;
  parameters: CheckParameter[];
  /**
   * The rows of items that determine whether a row is a violation: `row` if only the row itself does, or the columns in
   * which these rows have equal values; undefined if all rows matter. Only shipped checks have a scope.
   */
  scope: 'row' | readonly string[] | undefined;
  /**
   * A column of items. Within a run, the check reads only rows of items and history with a value that occurs in the
   * run's changed rows. With `run_id`, it reads only rows that the run writes, in any table.
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

/** Describes why a value doesn't match a parameter's type, or returns undefined if it does. */
export function explainMisfit(value: ParameterValue, type: ParameterType): string | undefined {
  const given = typeof value === 'string' ? 'text' : 'a number';
  if (type === 'VARCHAR') return typeof value === 'string' ? undefined : `must be text, not ${given}`;
  if (type === 'BIGINT') return Number.isSafeInteger(value) ? undefined : `must be an integer, not ${given}`;
  return Number.isFinite(value) ? undefined : `must be a number, not ${given}`;
}

const COMMENT_LINE = /^\s*--.*$/gmu;

/**
 * Returns the tables whose names occur in a check's SQL. May include a table whose name is only used as a column, but
 * never omits a table that the SQL reads. DuckDB's `getTableNames` returns no tables for SQL with `USING` or
 * parameters.
 */
export function findReadTables(sql: string): TableName[] {
  const words = new Set(sql.replace(COMMENT_LINE, '').toLowerCase().match(/\w+/gu) ?? []);
  return TABLE_NAMES.filter((table) => words.has(table));
}

/** Matches DuckDB errors that the check's SQL didn't cause. */
const NOT_ITS_OWN = /^(Out of Memory|IO|INTERRUPT|INTERNAL|FATAL|HTTP|Permission) Error/u;

/**
 * True for an error about a file whose name occurs in the SQL. Such a file belongs to the user, because the lake's
 * files are only read through views.
 */
const isOwnFile = (text: string, sql: string) =>
  text.startsWith('IO Error') && [...text.matchAll(/"([^"]+)"/gu)].some(([, name = '']) => sql.includes(name));

/** Adds the file and line to an error that the check's SQL caused. Returns other errors unchanged. */
export function explainCheckError({ file, sql }: Pick<Check, 'file' | 'sql'>, cause: unknown): unknown {
  const text = cause instanceof Error ? cause.message.replace('Failed to extract statements: ', '') : '';
  if (cause instanceof PricelakeError) return cause;
  // If the text has no statement, DuckDB's bindings return only this message.
  if (text === 'Error in native callback')
    return new PricelakeError('config', `${file}: the file contains no SQL`, {}, { cause });
  if (!/^[A-Z][\w ]* Error: /u.test(text)) return cause;
  if (NOT_ITS_OWN.test(text) && !isOwnFile(text, sql)) return cause;
  const [reason = '', line] = text.split(/\nLINE (\d+): /u);
  const where = line === undefined ? file : `${file}:${line}`;
  const message = `${where}: can't run the check: ${reason.trim()}`;
  return new PricelakeError('config', message, {}, { cause });
}
