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
   * Selects the rows of items that decide whether a row is a violation. With `row`, this is only the row itself. With a
   * list of columns, these are all rows with equal values in the columns. If undefined, these are all rows. Only checks
   * that come with pricelake have a scope.
   */
  scope: 'row' | readonly string[] | undefined;
  /**
   * A column of items. During a run, the check reads only rows of items and history whose value in this column occurs
   * in a row that the run changes. With `run_id`, the check reads only rows that the run writes, in any table.
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

/** Describes why a value isn't valid for a parameter of this type; undefined if it is valid. */
export function explainMisfit(value: ParameterValue, type: ParameterType): string | undefined {
  const given = typeof value === 'string' ? 'text' : 'a number';
  if (type === 'VARCHAR') return typeof value === 'string' ? undefined : `must be text, not ${given}`;
  if (type === 'BIGINT') return Number.isSafeInteger(value) ? undefined : `must be an integer, not ${given}`;
  return Number.isFinite(value) ? undefined : `must be a number, not ${given}`;
}

const COMMENT_LINE = /^\s*--.*$/gmu;

/**
 * Returns the tables whose names occur in a check's SQL. These include every table that the SQL reads, and perhaps a
 * table with the name of a column. DuckDB's `getTableNames` isn't used, because it returns no tables for SQL with
 * `USING` or parameters.
 */
export function findReadTables(sql: string): TableName[] {
  const words = new Set(sql.replace(COMMENT_LINE, '').toLowerCase().match(/\w+/gu) ?? []);
  return TABLE_NAMES.filter((table) => words.has(table));
}

/** Matches the errors of DuckDB that aren't caused by a check's SQL. */
const NOT_ITS_OWN = /^(Out of Memory|IO|INTERRUPT|INTERNAL|FATAL|HTTP|Permission) Error/u;

/**
 * True for an error about a file that the SQL names. Such a file belongs to the user, because checks read the lake's
 * files only through views.
 */
const isOwnFile = (text: string, sql: string) =>
  text.startsWith('IO Error') && [...text.matchAll(/"([^"]+)"/gu)].some(([, name = '']) => sql.includes(name));

/** Adds the file and the line to an error that the check's SQL has caused. Returns other errors unchanged. */
export function explainCheckError({ file, sql }: Pick<Check, 'file' | 'sql'>, cause: unknown): unknown {
  const text = cause instanceof Error ? cause.message.replace('Failed to extract statements: ', '') : '';
  if (cause instanceof PricelakeError) return cause;
  // If the text contains no statement, the error of DuckDB's bindings has only this message.
  if (text === 'Error in native callback')
    return new PricelakeError('config', `${file}: the file contains no SQL`, {}, { cause });
  if (!/^[A-Z][\w ]* Error: /u.test(text)) return cause;
  if (NOT_ITS_OWN.test(text) && !isOwnFile(text, sql)) return cause;
  const [reason = '', line] = text.split(/\nLINE (\d+): /u);
  const where = line === undefined ? file : `${file}:${line}`;
  const message = `${where}: can't run the check: ${reason.trim()}`;
  return new PricelakeError('config', message, {}, { cause });
}
