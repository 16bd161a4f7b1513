import { readdirSync, readFileSync } from 'node:fs';
import type { DuckDBValue } from '@duckdb/node-api';
import { packagePath } from '../io/package-path.js';
import type { Database } from '../sql/connection.js';
import type { RelationGraph } from '../sql/graph.js';
import { bindQuery, readAnalysis, type Source } from '../sql/model.js';
import { quoteIdentifier } from '../sql/quote.js';

/**
 * Lists the queries in pipelines/analysis that can run alone. The first line of any other query names the query of
 * which it is a part.
 */
export function listAnalyses(): string[] {
  return readdirSync(packagePath('pipelines/analysis'))
    .filter((file) => !readFileSync(packagePath(`pipelines/analysis/${file}`), 'utf8').startsWith('-- part of: '))
    .map((file) => file.replace(/\.sql$/u, ''))
    .sort();
}

/** Returns the question that an analysis answers, which is the first sentence of its leading comment. */
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

/** True for a query that a page uses: an analysis, or a part of the report or of the `explore` or `watch` commands. */
export function isExplored(name: string): boolean {
  if (!readdirSync(packagePath('pipelines/analysis')).includes(`${name}.sql`)) return false;
  const [first = ''] = readAnalysis(name).split('\n', 1);
  return !first.startsWith('-- part of: ') || /^-- part of: (explore|the report|watch)$/u.test(first);
}

/** Sets session variables, which queries read with `getvariable`. A null value unsets a variable. */
export async function setVariables(db: Database, variables: Record<string, DuckDBValue>): Promise<void> {
  for (const [name, value] of Object.entries(variables)) {
    const variable = quoteIdentifier(name);
    // An untyped NULL would give the variable a type that text and list functions reject.
    if (value === null) await db.run(`RESET VARIABLE ${variable}`);
    else await db.run(`SET VARIABLE ${variable} = $1`, [value]);
  }
}

/** Creates the `price_spells` view for analyses of past prices, from the `items`, `history` and `offers` views. */
export async function createSpellsView(db: Database): Promise<void> {
  await db.run(`CREATE OR REPLACE VIEW price_spells AS ${readAnalysis('price_spells')}`);
}

/** Returns the latest time of the service in history and items, or undefined if the lake is empty. */
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
