import { listParts } from '../../source/dataset-client.js';
import { landFacets } from '../../source/datasets.js';
import { skipSample } from '../../source/sample.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import type { LandedInput } from '../land/land-run.js';
import type { Run } from '../open/open-run.js';

/** Differences between the service's own counts or groups and the lake's. */
export interface FoundDifferences {
  compared: bigint;
  different: bigint;
  /** JSON text of an array, at most 100. */
  differences: string;
}

export const NOTHING_COMPARED: FoundDifferences = { compared: 0n, different: 0n, differences: '[]' };

/** @param select one row of `compared`, `different` and `differences` */
export async function readDifferences(
  { graph, io }: Pick<Run, 'graph' | 'io'>,
  what: 'facets' | 'products',
  select: Sql,
): Promise<FoundDifferences> {
  const row = await graph.row(select);
  const [compared, different] = [row?.compared as bigint, row?.different as bigint];
  io.log('debug', `${what}.compared`, { compared, different });
  return { compared, different, differences: String(row?.differences) };
}

/**
 * Asks for the service's counts, one call, right after a complete copy has landed: they test all of it. Only
 * complete copies of one dataset, or of all, are compared: an item in two datasets counts in each. A run without a call
 * left skips it.
 */
export async function askFacets(
  { client, landing, io, drift }: Run,
  { plan: { comparisons, parts } }: LandedInput,
): Promise<string | undefined> {
  const [part] = listParts(client, parts);
  if (!comparisons.facets || part === undefined) return undefined;
  const answer = await landFacets(part.client, landing, io).catch((error: unknown) => skipSample(error, io));
  if (answer !== undefined) drift.look('/facets', JSON.parse(answer));
  return answer;
}

/**
 * Compares the counts of listed items that the service gives by website, category and currency with `items`, the lake
 * as it would be. A difference has facet, id, name, service and lake; the widest is first.
 */
export async function proveFacets(
  run: Run,
  items: Relation,
  answer: string | undefined,
  readable: readonly string[] | undefined,
): Promise<FoundDifferences> {
  if (answer === undefined) return NOTHING_COMPARED;
  const { graph } = run;
  const compared = graph.model(
    'compare_facets',
    { counted_items: items, landed_facets: loadFacets(graph, answer) },
    { readable_datasets: readable ?? null },
  );
  return readDifferences(
    run,
    'facets',
    sql`SELECT count(*) AS compared, count(*) FILTER (service <> lake) AS different,
    (SELECT coalesce(CAST(to_json(list(d)) AS VARCHAR), '[]')
     FROM (FROM ${compared} WHERE service <> lake ORDER BY abs(service - lake) DESC, facet, id LIMIT 100) AS d) AS differences
    FROM ${compared}`,
  );
}

/** The service's counts as rows, ids as text: those of currencies are codes. */
export function loadFacets(graph: RelationGraph, answer: string): Relation {
  return graph.table(
    'landed_facets',
    sql`WITH answer AS (SELECT from_json(${answer}, '{"sites": [{"id": "VARCHAR", "name": "VARCHAR", "items": "BIGINT"}],
      "currencies": [{"code": "VARCHAR", "items": "BIGINT"}],
      "categories": [{"id": "VARCHAR", "name": "VARCHAR", "slug": "VARCHAR", "parentId": "VARCHAR", "items": "BIGINT"}]}') AS f)
    SELECT 'site' AS facet, s.id, s.name, NULL AS slug, NULL AS parent_id, s.items FROM (SELECT unnest(f.sites) AS s FROM answer)
    UNION ALL SELECT 'currency', c.code, c.code, NULL, NULL, c.items FROM (SELECT unnest(f.currencies) AS c FROM answer)
    UNION ALL SELECT 'category', c.id, c.name, c.slug, c.parentId, c.items FROM (SELECT unnest(f.categories) AS c FROM answer)`,
  );
}
