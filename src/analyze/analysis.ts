import { readdirSync, readFileSync } from 'node:fs';
import type { DuckDBValue } from '@duckdb/node-api';
import { packagePath } from '../io/package-path.js';
import type { Database } from '../sql/connection.js';
import type { RelationGraph } from '../sql/graph.js';
import { bindQuery, readAnalysis, type Source } from '../sql/model.js';
import { quoteIdentifier } from '../sql/quote.js';

/**
 * The queries of pipelines/analysis that run alone. The first line of any other query names the one that it is part of.
 */
export function listAnalyses(): string[] {
  return readdirSync(packagePath('pipelines/analysis'))
    .filter((file) => !readFileSync(packagePath(`pipelines/analysis/${file}`), 'utf8').startsWith('-- part of: '))
    .map((file) => file.replace(/\.sql$/u, ''))
    .sort();
}

/** The question that an analysis answers: the first sentence of its first comment. */
export function readQuestion(name: string): string {
  const [comment = ''] = /^(?:-- ?.*\n)+/u.exec(readAnalysis(name)) ?? [];
  const [first = ''] = comment
    .replace(/^-- part of: .*\n/u, '')
    .replaceAll(/^-- ?/gmu, '')
    .replaceAll('\n', ' ')
    .trim()
    .split(/(?<=[.:?])\s/u, 1);
  return first.replace(/:$/u, '.');
}

/** True for queries behind the tables of pages: an analysis, or a part of the report or of `explore`. */
export function isExplored(name: string): boolean {
  if (!readdirSync(packagePath('pipelines/analysis')).includes(`${name}.sql`)) return false;
  const [first = ''] = readAnalysis(name).split('\n', 1);
  return !first.startsWith('-- part of: ') || /^-- part of: (explore|the report|watch)$/u.test(first);
}

/** Sets session variables, which queries read with `getvariable`. Null unsets a variable. */
export async function setVariables(db: Database, variables: Record<string, DuckDBValue>): Promise<void> {
  for (const [name, value] of Object.entries(variables)) {
    const variable = quoteIdentifier(name);
    // A variable that is set to DuckDB's untyped NULL has a type that functions of texts and lists refuse.
    if (value === null) await db.run(`RESET VARIABLE ${variable}`);
    else await db.run(`SET VARIABLE ${variable} = $1`, [value]);
  }
}

/** Creates the `price_spells` view over the `items`, `history` and `offers` views, for analyses of the past. */
export async function createSpellsView(db: Database): Promise<void> {
  await db.run(`CREATE OR REPLACE VIEW price_spells AS ${readAnalysis('price_spells')}`);
}

/** The newest time that the service wrote into a row. Undefined for a lake without rows. */
export async function findNewestTime(
  graph: RelationGraph,
  { history, items }: { history: Source; items: Source },
): Promise<Date | undefined> {
  const query = `SELECT epoch_ms(greatest(
    (SELECT max(observed_at) FROM history), (SELECT max(last_seen_at) FROM items))) AS newest`;
  const row = await graph.row(bindQuery(query, { history, items }));
  const newest = row?.newest as bigint | null | undefined;
  return newest === null || newest === undefined ? undefined : new Date(Number(newest));
}
