import type { Io } from '../../io/io.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import { loadFacets } from '../land/land-comparisons.js';

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
  io: Io,
  graph: RelationGraph,
  what: 'facets' | 'products',
  select: Sql,
): Promise<FoundDifferences> {
  const row = await graph.row(select);
  const [compared, different] = [row?.compared as bigint, row?.different as bigint];
  io.log('debug', `${what}.compared`, { compared, different });
  return { compared, different, differences: String(row?.differences) };
}

/**
 * Compares the counts of listed items that the service gives by website, category and currency with `items`, the lake
 * as it would be. A difference has facet, id, name, service and lake; the widest is first.
 */
export async function proveFacets(
  io: Io,
  graph: RelationGraph,
  items: Relation,
  answer: string | undefined,
  readable: readonly string[] | undefined,
): Promise<FoundDifferences> {
  if (answer === undefined) return NOTHING_COMPARED;
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
