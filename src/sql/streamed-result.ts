import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import { quoteIdentifier } from './quote.js';
import { cutResult, fetchChunks, type Rows, readCounted } from './whole-result.js';

/** A relation as the text after FROM, with the values of its parameters. */
export interface RowSource {
  from: string;
  values?: Record<string, DuckDBValue>;
  types?: Record<string, DuckDBType>;
}

const END = quoteIdentifier('end of the result');

/**
 * Streams any number of rows, with one more column for the end mark. The mark comes in a last row, because DuckDB keeps
 * the order of UNION ALL; after an error it never comes.
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
      // This computes all values again, only to get the error.
      await connection.run(`SELECT max(hash(COLUMNS(*))) FROM ${from}`, values, types);
      throw cutResult(read);
    },
  };
}

/** A session holds at most one result. */
const HELD = quoteIdentifier('held result');

/**
 * Holds at most `most` rows in a temporary table, which DuckDB spills to disk at its memory limit. The files that the
 * statement reads are then no longer needed, however slowly the rows are taken.
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
        await connection.run(`DROP TABLE IF EXISTS ${HELD}`).catch(() => {}); // the session was interrupted
      }
    },
  };
}
