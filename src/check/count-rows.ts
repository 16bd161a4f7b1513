import { BIGINT, DOUBLE, type DuckDBType, type DuckDBValue, VARCHAR } from '@duckdb/node-api';
import type { Database } from '../duckdb/connection.js';
import { rowToJson } from '../duckdb/value-json.js';
import { explainCheckError } from './bind.js';
import type { ParameterType } from './check.js';
import type { PlannedCheck } from './settings.js';

export const SAMPLE_ROWS = 5;
const DUCKDB_TYPES: Record<ParameterType, DuckDBType> = { BIGINT, DOUBLE, VARCHAR };

/** Violations of a check: how many, and the first rows, each as JSON text. */
export interface Violations {
  violations: bigint;
  rows: string[];
  seconds: number;
}

/** One pass: the violating rows stream by, counted; only the first ones are looked at. */
export async function countRows(
  db: Database,
  { check, values }: PlannedCheck,
  keep = SAMPLE_ROWS,
): Promise<Violations> {
  const startedAt = performance.now();
  const rows: string[] = [];
  let violations = 0n;
  try {
    const result = await streamCheck(db, { check, values });
    const names = result.columnNames();
    for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
      violations += BigInt(chunk.rowCount);
      const wanted = Math.min(keep - rows.length, chunk.rowCount);
      for (let i = 0; i < wanted; i += 1) rows.push(rowToJson(names, chunk.getRowValues(i)));
    }
  } catch (cause) {
    throw explainCheckError(check, cause);
  }
  return { violations, rows, seconds: (performance.now() - startedAt) / 1000 };
}

function streamCheck(db: Database, { check, values }: Pick<PlannedCheck, 'check' | 'values'>) {
  if (check.parameters.length === 0) return db.connection.stream(check.sql);
  const types = Object.fromEntries(check.parameters.map(({ name, type }) => [name, DUCKDB_TYPES[type]]));
  const bound: Record<string, DuckDBValue> = {};
  for (const { name, type } of check.parameters) {
    const value = values[name] ?? null;
    bound[name] = type === 'BIGINT' && typeof value === 'number' ? BigInt(value) : value;
  }
  return db.connection.stream(check.sql, bound, types);
}
