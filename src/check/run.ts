import { BIGINT, DOUBLE, type DuckDBType, type DuckDBValue, VARCHAR } from '@duckdb/node-api';
import type { Database } from '../duckdb/connection.js';
import { rowToJson } from '../duckdb/value-json.js';
import { PricelakeError } from '../errors/errors.js';
import type { CheckResult, Severity } from '../tables/table.js';
import { explainCheckError } from './bind.js';
import type { Check, CheckSettings, ParameterType } from './check.js';
import { type PlannedCheck, planChecks } from './settings.js';

export type { CheckSettings } from './check.js';

const SAMPLE_ROWS = 5;
const DUCKDB_TYPES: Record<ParameterType, DuckDBType> = { BIGINT, DOUBLE, VARCHAR };

/**
 * Runs checks over the views named as the tables, in their order: exact counts and the first rows as a sample.
 * With the DuckDB variable `run_id` set, checks of `history` look at what that run wrote.
 * A check that does not run is a failed one, unless it is a gate.
 * @throws PricelakeError `config` for settings that fit no check, and when a gate's SQL does not run.
 */
export async function runChecks(
  db: Database,
  checks: readonly Check[],
  settings: CheckSettings,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const planned of planChecks(checks, settings)) {
    results.push(await runCheck(db, planned));
  }
  return results;
}

async function runCheck(db: Database, { check, severity, values }: PlannedCheck): Promise<CheckResult> {
  const startedAt = performance.now();
  const { violations, sample } = await countRows(db, check, values).catch((error) => recordFailure(error, severity));
  const seconds = (performance.now() - startedAt) / 1000;
  return { name: check.name, severity, description: check.description, violations, waived: false, sample, seconds };
}

/** Only a gate may stop a run: any other check that does not run is a failed one, and its sample says why. */
function recordFailure(error: unknown, severity: Severity) {
  if (severity === 'gate' || !(error instanceof PricelakeError) || error.code !== 'config') throw error;
  return { violations: 1n, sample: JSON.stringify([{ error: error.message }]) };
}

/** One pass: the violating rows stream by, counted; only the first ones are looked at. */
async function countRows(db: Database, check: Check, values: PlannedCheck['values']) {
  const rows: string[] = [];
  let violations = 0n;
  try {
    const result = await streamCheck(db, check, values);
    const names = result.columnNames();
    for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
      violations += BigInt(chunk.rowCount);
      const wanted = Math.min(SAMPLE_ROWS - rows.length, chunk.rowCount);
      for (let i = 0; i < wanted; i += 1) rows.push(rowToJson(names, chunk.getRowValues(i)));
    }
  } catch (cause) {
    throw explainCheckError(check, cause);
  }
  return { violations, sample: `[${rows.join(',')}]` };
}

function streamCheck(db: Database, check: Check, values: PlannedCheck['values']) {
  if (check.parameters.length === 0) return db.connection.stream(check.sql);
  const types = Object.fromEntries(check.parameters.map(({ name, type }) => [name, DUCKDB_TYPES[type]]));
  const bound: Record<string, DuckDBValue> = {};
  for (const { name, type } of check.parameters) {
    const value = values[name] ?? null;
    bound[name] = type === 'BIGINT' && typeof value === 'number' ? BigInt(value) : value;
  }
  return db.connection.stream(check.sql, bound, types);
}
