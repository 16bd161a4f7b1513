import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { readSet } from './pages/analysis.js';
import { bindAnalysis, withVariables } from './question.js';
import type { Snapshot } from './snapshot.js';
import type { DownloadFormat } from './table.js';

/** A SELECT statement, with everything that an output format needs to write its rows. */
export interface Rows {
  connection: DuckDBConnection;
  sql: string;
  /** License texts that must accompany the rows. */
  credits: readonly string[];
  /** The path of a temporary file that DuckDB may write to. */
  scratch: string;
}

/**
 * Writes rows in a format. `take` resolves to true once the client can receive more bytes, or to false if it has
 * disconnected.
 */
export type WriteRows = (
  rows: Rows,
  format: DownloadFormat,
  take: (chunk: string | Uint8Array) => Promise<boolean>,
) => Promise<void>;

interface DownloadRequest {
  analysis: string;
  format: DownloadFormat;
  search: URLSearchParams;
  signal: AbortSignal;
}

const TYPES: Record<DownloadFormat, [type: string, ending: string]> = {
  csv: ['text/csv; charset=utf-8', 'csv'],
  parquet: ['application/vnd.apache.parquet', 'parquet'],
  arrow: ['application/vnd.apache.arrow.stream', 'arrows'],
};

const DOWNLOAD_MS = 600_000;

/**
 * Streams all rows of an analysis as a file. Waits for the first bytes, so that a failing query can still become an
 * error page.
 * @throws PricelakeError `query` if the query fails before its first row
 */
export async function answerDownload(
  snapshot: Snapshot,
  { analysis, format, search, signal }: DownloadRequest,
  writeRows: WriteRows,
): Promise<Response> {
  const set = readSet(analysis, search);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const take = async (chunk: string | Uint8Array) => {
    begin();
    await writer.write(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    return true;
  };
  const scratch = join(snapshot.scratch, `${randomUUID()}.parquet`);
  const write = (connection: DuckDBConnection) =>
    writeRows(
      { connection, sql: bindAnalysis(snapshot, { analysis, set }), credits: snapshot.credits, scratch },
      format,
      take,
    );
  const written = snapshot.use(() => withVariables(snapshot, set, signal, write, DOWNLOAD_MS));
  written
    .then(
      () => writer.close(),
      (error: unknown) => writer.abort(error),
    )
    .catch(() => {}); // the client has disconnected
  // If the query fails before its first row, this throws, so that the response can still be an error page.
  await Promise.race([begun, written]);
  const [type, ending] = TYPES[format];
  const headers = { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${analysis}.${ending}"` };
  return new Response(readable, { headers });
}
