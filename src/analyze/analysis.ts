import { readdirSync, readFileSync } from 'node:fs';
import type { DuckDBValue } from '@duckdb/node-api';
import { packagePath } from '../io/package-path.js';
import type { Database } from '../sql/connection.js';
import { readAnalysis } from '../sql/model.js';
import { quoteIdentifier } from '../sql/quote.js';

export { readAnalysis };

/** Names of the queries of pipelines/analysis that run alone. The others say in their first line what they are part of. */
export function listAnalyses(): string[] {
  return readdirSync(packagePath('pipelines/analysis'))
    .filter((file) => !readFileSync(packagePath(`pipelines/analysis/${file}`), 'utf8').startsWith('-- part of: '))
    .map((file) => file.replace(/\.sql$/u, ''))
    .sort();
}

/** Sets variables of the session, which queries read with `getvariable`; one that is null is as good as unset. */
export async function setVariables(db: Database, variables: Record<string, DuckDBValue>): Promise<void> {
  for (const [name, value] of Object.entries(variables)) {
    const variable = quoteIdentifier(name);
    // A null has a type of its own, which functions of texts and lists refuse.
    if (value === null) await db.run(`RESET VARIABLE ${variable}`);
    else await db.run(`SET VARIABLE ${variable} = $1`, [value]);
  }
}

/** View `price_spells`, which analyses of the past read; from views `items` and `history`. */
export async function createSpellsView(db: Database): Promise<void> {
  await db.run(`CREATE OR REPLACE VIEW price_spells AS ${readAnalysis('price_spells')}`);
}
