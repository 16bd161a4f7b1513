import { listDrift } from '../drift/list-drift.js';
import type { Run } from '../run/open-run.js';

/**
 * Logs, once a run, in which ways the answers were not as the API document describes them. Returns them as JSON text for
 * the ledger, where check `schema_drift` looks; none where the pipeline allows drift.
 */
export function reportDrift({ drift, pipeline, io }: Pick<Run, 'drift' | 'pipeline' | 'io'>): string {
  const found = listDrift(drift.seen);
  if (found.length > 0) io.log('info', 'schema.drift', { found });
  return pipeline.checks.schema_drift?.severity === 'off' ? '[]' : JSON.stringify(found);
}
