import { readdirSync, readFileSync } from 'node:fs';
import type { DuckDBValue } from '@duckdb/node-api';
import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import { packagePath } from '../schemas.js';

/** A query of pipelines/analysis, by name. */
export function readAnalysis(name: string): string {
  return readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
}

/** Names of the queries of pipelines/analysis. */
export function listAnalyses(): string[] {
  return readdirSync(packagePath('pipelines/analysis'))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
}

/** Sets variables of the session, which queries read with `getvariable`; one that is null is as good as unset. */
export async function setVariables(db: Database, variables: Record<string, DuckDBValue>): Promise<void> {
  for (const [name, value] of Object.entries(variables)) {
    await db.run(`SET VARIABLE ${quoteIdentifier(name)} = $1`, [value]);
  }
}
