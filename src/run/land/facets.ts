import type { Landing } from '../../journal/landings.js';
import { skipSample } from '../../source/allow-skipping.js';
import { listParts } from '../../source/dataset-client.js';
import { landFacets } from '../../source/facets.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { sql } from '../../sql/sql.js';
import type { ListedRun } from '../open/wings.js';
import type { ComparisonPlan } from '../open/witness.js';

/**
 * Requests the service's item counts in one call, immediately after a complete copy has landed. The run compares these
 * counts with the copy. Returns undefined if the plan skips this, for example if the pipeline lists several datasets.
 * The counts of datasets can't be added up, because an item in two datasets is counted in each.
 */
export async function askFacets(
  { client, io, look }: Pick<ListedRun, 'client' | 'io' | 'look'>,
  landing: Landing,
  { comparisons, parts }: ComparisonPlan,
): Promise<string | undefined> {
  const [part] = listParts(client, parts);
  if (!comparisons.facets || part === undefined) return undefined;
  const answer = await landFacets(part.client, landing, io).catch((error: unknown) => skipSample(error, io));
  if (answer !== undefined) look('/facets', JSON.parse(answer));
  return answer;
}

/** Loads the service's counts as a relation. The id column is text, because a currency's id is its code. */
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
