import type {
  DuckDBDataChunk,
  DuckDBMaterializedResult,
  DuckDBPreparedStatement,
  DuckDBResult,
} from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';

// A result that streams returns null both at its end and after an error, and the bindings don't expose the error. So
// only this file fetches chunks, and counts the rows of results in memory. Results that stream have an end mark
// (streamed-result.ts). Nothing else reads either kind.

export interface Rows {
  /**
   * Reads the rows once. Another statement on the session ends this early.
   * @throws the error of the statement, even after some of its rows
   */
  chunks(): AsyncGenerator<DuckDBDataChunk>;
}

/** Reads rows that fit into memory. The statement has ended without an error. */
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
  new PricelakeError('query', `DuckDB returned only ${read} rows of the result, and gave no reason`, {
    hint: 'Run the command again.',
  });
