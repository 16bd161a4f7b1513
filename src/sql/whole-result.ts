import type {
  DuckDBDataChunk,
  DuckDBMaterializedResult,
  DuckDBPreparedStatement,
  DuckDBResult,
} from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';

// A streamed result returns null both at its end and after an error, and DuckDB's bindings don't report the error. Code
// outside this file therefore never fetches chunks itself. For a result in memory, this file checks the number of rows.
// For a streamed result, streamed-result.ts checks an end mark.

export interface Rows {
  /**
   * Yields the rows. Can be called only once. Another statement on the session ends the rows early.
   * @throws the statement's error, which may follow some of its rows
   */
  chunks(): AsyncGenerator<DuckDBDataChunk>;
}

/** Runs a statement to its end, and keeps its result in memory. Reading its rows then can't fail. */
export async function runWhole(
  statement: Pick<DuckDBPreparedStatement, 'run'>,
): Promise<Rows & { count: number; result: DuckDBMaterializedResult }> {
  const result = await statement.run();
  const count = result.rowCount;
  return { count, result, chunks: () => readCounted(result, BigInt(count)) };
}

export async function* readCounted(result: DuckDBResult, count: bigint): AsyncGenerator<DuckDBDataChunk> {
  let read = 0n;
  for await (const chunk of fetchChunks(result)) {
    read += BigInt(chunk.rowCount);
    yield chunk;
  }
  if (read !== count) throw cutResult(read);
}

export async function* fetchChunks(result: DuckDBResult): AsyncGenerator<DuckDBDataChunk> {
  for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk())
    yield chunk;
}

export const cutResult = (read: bigint) =>
  new PricelakeError('query', `the query stopped after ${read} rows, but DuckDB reported no error`, {
    hint: 'Run the command again.',
  });
