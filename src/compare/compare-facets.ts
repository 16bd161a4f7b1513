import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import { listParts } from '../extract/dataset-client.js';
import { landFacets } from '../extract/facets.js';
import { skipSample } from '../extract/sample.js';
import type { Extract } from '../run/landed-run.js';
import type { Run } from '../run/open-run.js';

/** Counts of listed items that the service gives by website, category and currency, compared with those of the lake. */
export interface FacetComparison {
  compared: bigint;
  different: bigint;
  /** JSON text of an array, at most 100, the widest first: facet, id, name, service, lake. */
  differences: string;
}

export const NO_FACET_COMPARISON: FacetComparison = { compared: 0n, different: 0n, differences: '[]' };

/**
 * Asks for the service's counts, one call, right after a complete copy has landed: they test all of it. Only
 * complete copies of one dataset, or of all, are compared: an item in two datasets counts in each. A run without a call
 * left skips it.
 */
export async function askFacets(
  { client, landing, io, drift }: Run,
  { plan: { comparisons, parts } }: Extract,
): Promise<string | undefined> {
  const [part] = listParts(client, parts);
  if (!comparisons.facets || part === undefined) return undefined;
  const answer = await landFacets(part.client, landing, io).catch((error: unknown) => skipSample(error, io));
  if (answer !== undefined) drift.look('/facets', JSON.parse(answer));
  return answer;
}

/** Compares the service's counts with view `items`, the lake as it would be. */
export async function compareFacets(
  { db, io }: Pick<Run, 'db' | 'io'>,
  answer: string | undefined,
): Promise<FacetComparison> {
  if (answer === undefined) return NO_FACET_COMPARISON;
  await loadFacets(db, answer);
  await db.run('CREATE OR REPLACE TEMP VIEW counted_items AS SELECT * FROM items');
  await db.run(`CREATE OR REPLACE TEMP TABLE compared_facets AS ${readModel('compare_facets')}`);
  const row = await db.row(`SELECT count(*) AS compared, count(*) FILTER (service <> lake) AS different,
    (SELECT coalesce(CAST(to_json(list(d)) AS VARCHAR), '[]')
     FROM (FROM compared_facets WHERE service <> lake ORDER BY abs(service - lake) DESC, facet, id LIMIT 100) AS d) AS differences
    FROM compared_facets`);
  const comparison = {
    compared: row?.compared as bigint,
    different: row?.different as bigint,
    differences: String(row?.differences),
  };
  io.log('debug', 'facets.compared', { compared: comparison.compared, different: comparison.different });
  return comparison;
}

/** Table `landed_facets`, ids as text: those of currencies are codes. */
export async function loadFacets(db: Database, answer: string): Promise<void> {
  await db.run(
    `CREATE OR REPLACE TEMP TABLE landed_facets AS
    WITH answer AS (SELECT from_json($1, '{"sites": [{"id": "VARCHAR", "name": "VARCHAR", "items": "BIGINT"}],
      "currencies": [{"code": "VARCHAR", "items": "BIGINT"}],
      "categories": [{"id": "VARCHAR", "name": "VARCHAR", "slug": "VARCHAR", "parentId": "VARCHAR", "items": "BIGINT"}]}') AS f)
    SELECT 'site' AS facet, s.id, s.name, NULL AS slug, NULL AS parent_id, s.items FROM (SELECT unnest(f.sites) AS s FROM answer)
    UNION ALL SELECT 'currency', c.code, c.code, NULL, NULL, c.items FROM (SELECT unnest(f.currencies) AS c FROM answer)
    UNION ALL SELECT 'category', c.id, c.name, c.slug, c.parentId, c.items FROM (SELECT unnest(f.categories) AS c FROM answer)`,
    [answer],
  );
}
