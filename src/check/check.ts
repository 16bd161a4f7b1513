import { PricelakeError } from '../io/errors.js';
import { type Severity, TABLE_NAMES, type TableName } from '../tables/table.js';

export const SEVERITIES = ['gate', 'error', 'warn'] as const satisfies readonly Severity[];
export const PARAMETER_TYPES = ['BIGINT', 'DOUBLE', 'VARCHAR'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];
export type ParameterValue = string | number;

/** A threshold of a check that the pipeline file can set; `$name` in its SQL. */
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
  /** The text after the number of violations: `[price is|prices are] below zero`. */
  found?: string | undefined;
  /** Advice if it fails. */
  next: string;
  parameters: CheckParameter[];
  /**
   * The rows of items on which a violation depends: a single row, or the rows with equal values in these columns;
   * undefined for all rows. Only shipped checks have a scope.
   */
  scope: 'row' | readonly string[] | undefined;
  /**
   * A column of items. Within a run, the check reads only rows of items and history with a value that the run touched;
   * for `run_id`, only rows that the run writes, in any table.
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

/** Explains why a value does not fit a parameter's type; undefined if it does. */
export function explainMisfit(value: ParameterValue, type: ParameterType): string | undefined {
  const given = typeof value === 'string' ? 'text' : 'a number';
  if (type === 'VARCHAR') return typeof value === 'string' ? undefined : `must be text, not ${given}`;
  if (type === 'BIGINT') return Number.isSafeInteger(value) ? undefined : `must be an integer, not ${given}`;
  return Number.isFinite(value) ? undefined : `must be a number, not ${given}`;
}

const COMMENT_LINE = /^\s*--.*$/gmu;

/**
 * The tables whose names occur in a check's SQL. A column with the name of a table adds one too many, but none is
 * missed. DuckDB's `getTableNames` finds none in SQL with `USING` or parameters.
 */
export function findReadTables(sql: string): TableName[] {
  const words = new Set(sql.replace(COMMENT_LINE, '').toLowerCase().match(/\w+/gu) ?? []);
  return TABLE_NAMES.filter((table) => words.has(table));
}

/** Matches DuckDB errors that the check's SQL did not cause. */
const NOT_ITS_OWN = /^(Out of Memory|IO|INTERRUPT|INTERNAL|FATAL|HTTP|Permission) Error/u;

/**
 * True for an error about a file that the SQL names. It is the user's own file, because the lake's files are only read
 * through views.
 */
const isOwnFile = (text: string, sql: string) =>
  text.startsWith('IO Error') && [...text.matchAll(/"([^"]+)"/gu)].some(([, name = '']) => sql.includes(name));

/**
 * Adds file and line to an error of the check's SQL. Other errors (out of memory, a damaged file) are returned
 * unchanged.
 */
export function explainCheckError({ file, sql }: Pick<Check, 'file' | 'sql'>, cause: unknown): unknown {
  const text = cause instanceof Error ? cause.message.replace('Failed to extract statements: ', '') : '';
  if (cause instanceof PricelakeError) return cause;
  // DuckDB's bindings give only this message for a text without a statement.
  if (text === 'Error in native callback')
    return new PricelakeError('config', `${file}: the file contains no SQL`, {}, { cause });
  if (!/^[A-Z][\w ]* Error: /u.test(text)) return cause;
  if (NOT_ITS_OWN.test(text) && !isOwnFile(text, sql)) return cause;
  const [reason = '', line] = text.split(/\nLINE (\d+): /u);
  const where = line === undefined ? file : `${file}:${line}`;
  const message = `${where}: can't run the check: ${reason.trim()}`;
  return new PricelakeError('config', message, {}, { cause });
}
