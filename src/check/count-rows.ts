import {
  BIGINT,
  DOUBLE,
  DuckDBListType,
  DuckDBListValue,
  type DuckDBResultReader,
  DuckDBStructType,
  DuckDBStructValue,
  type DuckDBType,
  VARCHAR,
} from '@duckdb/node-api';
import type { RelationGraph } from '../sql/graph.js';
import { bindQuery, type Source } from '../sql/model.js';
import type { Relation } from '../sql/relation.js';
import { type Sql, writeTyped } from '../sql/sql.js';
import { rowToJson } from '../sql/value-json.js';
import type { TableName } from '../tables/table.js';
import { type Check, explainCheckError, findReadTables, type ParameterType } from './check.js';
import type { ConfiguredCheck } from './settings.js';

export const SAMPLE_ROWS = 5;
const DUCKDB_TYPES: Record<ParameterType, DuckDBType> = { BIGINT, DOUBLE, VARCHAR };

/** The number of violations of a check, and the first violating rows as JSON text. */
export interface Violations {
  violations: bigint;
  rows: string[];
  seconds: number;
}

export interface CheckedTables {
  tables: Readonly<Partial<Record<TableName, Source>>>;
  /** The run whose rows in history are checked; undefined outside a run. */
  runId: string | undefined;
}

/** The items that a run changed, with their rows before and after the run. */
export interface ChangedItems {
  before: Relation;
  after: Relation;
}

/** Lets a check read the session's own views, whose names are the tables' names. */
export const NAMED_TABLES: CheckedTables = { tables: {}, runId: undefined };

/**
 * Counts the violations of a check. Also returns the first `keep` violating rows, sorted by all columns from left to
 * right, so that every count returns the same sample.
 */
export async function countRows(
  graph: RelationGraph,
  configured: ConfiguredCheck,
  checked: CheckedTables,
  keep = SAMPLE_ROWS,
): Promise<Violations> {
  const { check, values } = configured;
  const rows = bindCheck(check.sql, checked);
  await graph.ready(rows);
  const startedAt = performance.now();
  // Keeps the check's SQL on the first line, so that line numbers in errors match the check's file. A column is
  // unlikely to have the same name as the alias.
  const text = `SELECT count(*), min("a violating row", ${keep}) FROM (${rows.text}) AS "a violating row"`;
  try {
    const { bound: given, types } = bindParameters(check, values);
    const found = readFound(await graph.db.read(text, given, types));
    return { ...found, seconds: (performance.now() - startedAt) / 1000 };
  } catch (cause) {
    throw explainCheckError(check, cause);
  }
}

function readFound(result: DuckDBResultReader): Pick<Violations, 'violations' | 'rows'> {
  const [[violations, first] = []] = result.getRows();
  const list = result.columnType(1);
  const row = list instanceof DuckDBListType ? list.valueType : undefined;
  const names = row instanceof DuckDBStructType ? row.entryNames : [];
  const rows = first instanceof DuckDBListValue ? first.items : [];
  const shown = rows.map((one) =>
    rowToJson(
      names,
      names.map((name) => (one instanceof DuckDBStructValue ? (one.entries[name] ?? null) : null)),
    ),
  );
  return { violations: violations as bigint, rows: shown };
}

export function bindCheck(text: string, { tables, runId }: CheckedTables): Sql {
  const read = findReadTables(text).flatMap((name): [string, Source][] => {
    const source = tables[name];
    return source === undefined ? [] : [[name, source]];
  });
  return bindQuery(cutSemicolon(text), Object.fromEntries(read), { run_id: writeTyped('VARCHAR', runId ?? null) });
}

/** Matches whole literals, quoted names and comments, so that semicolons inside them aren't matched alone. */
const LEXEMES = /\b[eE]'(?:\\.|[^'\\])*'|'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\$\$.*?\$\$|;/gsu;

/** Replaces semicolons that end a statement with spaces, so that the statement can be used as a subquery. */
function cutSemicolon(text: string): string {
  return text.replaceAll(LEXEMES, (found) => (found === ';' ? ' ' : found));
}

function bindParameters(check: Check, values: ConfiguredCheck['values']) {
  if (check.parameters.length === 0) return {};
  const types = Object.fromEntries(check.parameters.map(({ name, type }) => [name, DUCKDB_TYPES[type]]));
  const bound = Object.fromEntries(check.parameters.map(({ name }) => [name, values[name] ?? null]));
  return { bound, types };
}
