import { sql } from '../../sql/sql.js';
import type { RunMode } from '../../tables/table.js';
import type { Run } from '../open/open-run.js';

/**
 * Reports how long earlier runs of the same mode took, by the ledger, as progress: what is left of this one is estimated
 * from it. A first run has none.
 */
export async function reportPace(
  { graph, before, io, tables }: Pick<Run, 'graph' | 'before' | 'io' | 'tables'>,
  mode: RunMode,
): Promise<void> {
  if (tables.runs.files.length === 0) return;
  const row = await graph.row(
    sql`SELECT median(seconds) AS seconds, CAST(median(received) AS BIGINT) AS rows FROM (
      SELECT seconds, received FROM ${await before.rows('runs')} WHERE mode = ${mode} AND tries = 1
      ORDER BY run_number DESC LIMIT 5)`,
  );
  const { seconds, rows } = row ?? {};
  if (typeof seconds === 'number' && typeof rows === 'bigint')
    io.progress({ step: 'run', rows: 0n, bytes: 0, pace: { seconds, rows } });
}
