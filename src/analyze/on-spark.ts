import { readdirSync } from 'node:fs';
import { PricelakeError } from '../io/errors.js';
import { packagePath } from '../io/package-path.js';

const ONE_PRODUCT = 'it reads a few products, which takes this machine a moment';

/** Analyses without a query in pipelines/spark/sql, and why. */
export const NOT_ON_SPARK: Readonly<Record<string, string>> = {
  attribute_coverage: 'it reads names of attributes in JSON as DuckDB does',
  attribute_names: 'it reads names of attributes in JSON as DuckDB does',
  attribute_proposals: 'it reads names of attributes in JSON as DuckDB does',
  find_products: "it compares texts by DuckDB's measures of likeness",
  match_candidates: 'it takes accents from letters by a function that Spark lacks',
  offers: ONE_PRODUCT,
  product_changes: ONE_PRODUCT,
  product_offers: ONE_PRODUCT,
  product_spells: ONE_PRODUCT,
};

/** The file of this name makes the table. */
const TABLE_FILES = new Set(['offers']);

let queries: ReadonlySet<string> | undefined;

/** True if pipelines/spark has a query for this analysis. */
export function isOnSpark(analysis: string): boolean {
  queries ??= new Set(readdirSync(packagePath('pipelines/spark/sql')).map((file) => file.replace(/\.sql$/u, '')));
  return queries.has(analysis) && !TABLE_FILES.has(analysis);
}

/** @throws PricelakeError `usage` that says why Spark can't run it */
export function requireOnSpark(analysis: string): void {
  if (isOnSpark(analysis)) return;
  throw new PricelakeError('usage', `${analysis} has no query for Spark: ${NOT_ON_SPARK[analysis]}`, {
    hint: 'Drop --engine spark.',
  });
}

/** Advice for an analysis that is too large for this machine; undefined if it can't run elsewhere. */
export function adviseSpark(analysis: string): string | undefined {
  if (!isOnSpark(analysis)) return undefined;
  return `run it on a Spark cluster: pricelake query --engine spark --analysis ${analysis}`;
}
