import type { Io } from '../../io/io.js';
import { loadFacets } from '../../run/land/facets.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { sql } from '../../sql/sql.js';
import { type FoundDifferences, readDifferences } from '../differences.js';

/**
 * Compares the service's counts of listed items by website, category and currency with the items that this run would
 * publish. Each difference has the members facet, id, name, service and lake. The largest difference comes first.
 */
export async function proveFacets(
  io: Io,
  graph: RelationGraph,
  items: Relation,
  answer: string,
  readable: readonly string[] | undefined,
): Promise<FoundDifferences> {
  const compared = graph.model(
    'compare_facets',
    { counted_items: items, landed_facets: loadFacets(graph, answer) },
    { readable_datasets: readable ?? null },
  );
  return readDifferences(
    io,
    graph,
    'facets',
    sql`SELECT count(*) AS compared, count(*) FILTER (service <> lake) AS different,
    (SELECT coalesce(CAST(to_json(list(d)) AS VARCHAR), '[]')
     FROM (FROM ${compared} WHERE service <> lake ORDER BY abs(service - lake) DESC, facet, id LIMIT 100) AS d) AS differences
    FROM ${compared}`,
  );
}
