import { type DuckDBConnection, type DuckDBType, DuckDBTypeId, type DuckDBValue } from '@duckdb/node-api';
import * as z from 'zod';
import { withVariables } from '../../explore/question.js';
import type { Snapshot } from '../../explore/snapshot.js';
import { withUserRows } from '../../explore/user-query.js';
import { quoteIdentifier } from '../../sql/quote.js';
import { prepareSelect } from '../../sql/read-only-sql.js';
import { type ExactJson, toExactJson } from '../exact-json.js';
import { explainSqlError } from '../explain-sql-error.js';
import { toReportValue } from '../output/report-rows.js';
import { row } from '../results/kinds.js';
import type { Call } from './desk.js';

/**
 * The maximum number and the default number of rows in an answer. The default is small, because an agent reads all
 * rows.
 */
export const MOST_ROWS = 1000;
export const ROWS = 20;
/** The maximum number of characters in one value. An answer has at most MOST_CHARACTERS in all of its rows. */
export const MOST_TEXT = 2000;
const MOST_CHARACTERS = 100_000;

export interface RowsRequest {
  sql: string;
  set?: Readonly<Record<string, string>> | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  /** True if an agent wrote the SQL. Such SQL isn't trusted. */
  isForeign?: boolean;
}

/** The members of an answer that returns rows. */
export const rowsShape = {
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(row),
  more: z.boolean().describe('True if there are more rows; to get them, pass a larger limit or an offset'),
  cut: z.array(z.string()).describe(`Columns with values that were truncated to ${MOST_TEXT} characters`),
};
export type RowsAnswer = z.output<z.ZodObject<typeof rowsShape>>;

/** The limit and offset members of a tool's input. */
export const boundsShape = {
  limit: z.int().min(1).max(MOST_ROWS).optional().describe(`Maximum number of rows; default ${ROWS}`),
  offset: z.int().min(0).max(1_000_000_000).optional().describe('Number of rows to skip'),
};

/**
 * Reads the rows of a SELECT from a snapshot. The time, the memory, and the numbers of rows and characters are limited.
 * DuckDB truncates long strings, so that they never reach this process.
 * @throws PricelakeError `query` if DuckDB rejects the SQL or a limit is exceeded
 */
export async function selectRows(
  snapshot: Snapshot,
  { sql, set = {}, limit = ROWS, offset = 0, isForeign = false }: RowsRequest,
  { signal, desk: { most } }: Call,
): Promise<RowsAnswer> {
  try {
    return isForeign
      ? await withUserRows(snapshot, { sql, limit, offset, signal, most }, (connection, rows) =>
          readRows(connection, rows, { limit, offset: 0 }),
        )
      : await withVariables(
          snapshot,
          set,
          signal,
          (connection) => readRows(connection, sql.replace(/[\s;]+$/u, ''), { limit, offset }),
          most,
        );
  } catch (error) {
    throw explainSqlError(error);
  }
}

async function readRows(
  connection: DuckDBConnection,
  sql: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<RowsAnswer> {
  const whole = await prepareSelect(connection, sql);
  const types = Array.from({ length: whole.columnCount }, (_, at) => whole.columnType(at));
  const names = nameApart(types.map((_, at) => whole.columnName(at)));
  const reader = await connection.runAndReadAll(`${cutTexts(sql, types)} LIMIT ${limit + 1} OFFSET ${offset}`);
  return boundRows({ names, types }, reader.getRows(), limit);
}

/** Makes column names unique by adding a number to repeated names, such as `id` and `id_1`, as DuckDB does. */
function nameApart(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return before === 0 ? name : `${name}_${before}`;
  });
}

const SCALAR = new Set([
  ...[DuckDBTypeId.BOOLEAN, DuckDBTypeId.TINYINT, DuckDBTypeId.SMALLINT, DuckDBTypeId.INTEGER, DuckDBTypeId.BIGINT],
  ...[DuckDBTypeId.UTINYINT, DuckDBTypeId.USMALLINT, DuckDBTypeId.UINTEGER, DuckDBTypeId.UBIGINT],
  ...[DuckDBTypeId.HUGEINT, DuckDBTypeId.UHUGEINT, DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE, DuckDBTypeId.DECIMAL],
  ...[DuckDBTypeId.DATE, DuckDBTypeId.TIME, DuckDBTypeId.TIMESTAMP, DuckDBTypeId.TIMESTAMP_TZ, DuckDBTypeId.UUID],
]);

/**
 * Selects two columns for each column of text or nested values. The first has the values, which may be truncated, and
 * the second has true for each truncated value.
 */
function cutTexts(sql: string, types: readonly DuckDBType[]): string {
  const columns = types.map((_, at) => quoteIdentifier(`c${at}`));
  const selected = types.flatMap(({ typeId }, at) => {
    const column = columns[at] as string;
    if (SCALAR.has(typeId)) return [column];
    const isLong = `length(${column}::VARCHAR) > ${MOST_TEXT}`;
    const kept =
      typeId === DuckDBTypeId.VARCHAR
        ? `left(${column}::VARCHAR, ${MOST_TEXT})`
        : `CASE WHEN NOT ${isLong} THEN ${column} END`;
    return [kept, `coalesce(${isLong}, false)`];
  });
  return `SELECT ${selected.join(', ')} FROM (${sql}\n) AS _(${columns.join(', ')})`;
}

interface Head {
  names: readonly string[];
  types: readonly DuckDBType[];
}

function boundRows({ names, types }: Head, all: readonly DuckDBValue[][], limit: number): RowsAnswer {
  const cut = new Set<string>();
  const rows: Map<string, ExactJson>[] = [];
  let left = MOST_CHARACTERS;
  for (const values of all.slice(0, limit)) {
    const row = readRow({ names, types }, values, cut);
    left -= JSON.stringify([...row.values()]).length;
    if (left < 0 && rows.length > 0) break;
    rows.push(row);
  }
  const columns = names.map((name, at) => ({ name, type: String(types[at]) }));
  return { columns, rows, more: rows.length < all.length, cut: [...cut] };
}

function readRow({ names, types }: Head, values: readonly DuckDBValue[], cut: Set<string>): Map<string, ExactJson> {
  let at = 0;
  const entries = names.map((name, column): [string, ExactJson] => {
    const value = toExactJson(toReportValue(values[at]));
    at += 1;
    if (SCALAR.has((types[column] as DuckDBType).typeId)) return [name, value];
    const isCut = values[at] === true;
    at += 1;
    if (!isCut) return [name, value];
    cut.add(name);
    return [name, typeof value === 'string' ? `${value}…` : '…'];
  });
  return new Map(entries);
}
