import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { quoteIdentifier } from './quote.js';
import { cutResult, fetchChunks, type Rows, readCounted } from './whole-result.js';

/** A FROM expression, with the values of its parameters. */
export interface RowSource {
  from: string;
  values?: Record<string, DuckDBValue>;
  types?: Record<string, DuckDBType>;
}

const END = quoteIdentifier('end of the result');

/**
 * Streams a result of any size. Adds a column and a last row that marks the end. DuckDB keeps the order of UNION ALL,
 * so the mark comes last. If an error has truncated the result, the mark is missing.
 */
export function streamRows(connection: DuckDBConnection, { from, values, types }: RowSource): Rows {
  const marked = `SELECT *, false AS ${END} FROM ${from} UNION ALL BY NAME SELECT true AS ${END}`;
  return {
    async *chunks() {
      let read = 0n;
      let hasEnded = false;
      for await (const chunk of fetchChunks(await connection.stream(marked, values, types))) {
        hasEnded = chunk.getColumnVector(chunk.columnCount - 1).getItem(chunk.rowCount - 1) === true;
        if (hasEnded) chunk.rowCount -= 1;
        read += BigInt(chunk.rowCount);
        if (chunk.rowCount > 0) yield chunk;
      }
      if (hasEnded) return;
      // DuckDB hides the error that cut off the result, so all values are computed again just to get this error.
      await connection.run(`SELECT max(hash(COLUMNS(*))) FROM ${from}`, values, types);
      throw cutResult(read);
    },
  };
}

/** The temporary table that holds a result. A session has at most one. */
const HELD = quoteIdentifier('held result');

/**
 * Copies at most `most` rows into a temporary table, which DuckDB moves to disk if memory is short. Callers can then
 * read the rows slowly, even if the files that the statement has read are deleted in the meantime.
 */
export async function holdRows(
  connection: DuckDBConnection,
  { from, values, types }: RowSource,
  most: number,
): Promise<Rows & { count: bigint }> {
  const made = await connection.runAndReadAll(
    `CREATE OR REPLACE TEMP TABLE ${HELD} AS FROM ${from} LIMIT ${most}`,
    values,
    types,
  );
  const count = made.getRows()[0]?.[0] as bigint;
  return {
    count,
    async *chunks() {
      try {
        yield* readCounted(await connection.stream(`FROM ${HELD}`), count);
      } finally {
        await connection.run(`DROP TABLE IF EXISTS ${HELD}`).catch(() => {}); // fails if the session was interrupted
      }
    },
  };
}
