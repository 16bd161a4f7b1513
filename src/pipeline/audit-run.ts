import path from 'node:path';
import { loadChecks } from '../check/load.js';
import { runChecks } from '../check/run.js';
import { PricelakeError } from '../errors.js';
import { createTableViews, tableRelation } from '../lake/views.js';
import type { CheckResult } from '../model.js';
import { loadRows, type RunRow } from './ledger.js';
import type { Run } from './run.js';
import type { Candidate } from './stage-run.js';

/**
 * Runs the checks over the lake as it would be, this run's row of the ledger included. If a gate fails, the batch is
 * held: `gate_failed`, nothing is published, and the raw bytes stay, so that the next try costs no call.
 */
export async function auditRun(run: Run, candidate: Candidate, rows: readonly RunRow[]): Promise<CheckResult[]> {
  const { db, io, landing } = run;
  await createTableViews(db, run.lake, candidate);
  await loadRows(db, 'next_runs', 'runs', rows);
  const files = run.tables.runs.files.map((file) => path.join(run.lake.root, 'runs', file.path));
  await db.run(`CREATE OR REPLACE TEMP VIEW runs AS
    SELECT * FROM ${tableRelation('runs', files)} UNION ALL SELECT * FROM next_runs`);
  const results = await runChecks(db, await loadChecks(), run.pipeline.checks, io);
  io.log('debug', 'audited', { checks: results.length });
  const failed = results.filter((result) => result.severity === 'gate' && result.violations > 0n);
  if (failed.length === 0) return results;
  await landing.journal.append({ type: 'held', checks: failed.map((result) => result.name) });
  const names = failed.map((result) => `${result.name} (${result.violations})`).join(', ');
  throw new PricelakeError('gate_failed', `the batch is held: ${failed.length} gate check(s) failed: ${names}`, {
    hint: `nothing was published; look at ${landing.folder}, change checks: in ${run.pipeline.file} if it is right, and sync again: no call is made twice`,
    checks: failed.map(({ name, violations, sample }) => ({ name, violations: String(violations), sample })),
    runId: landing.runId,
  });
}
