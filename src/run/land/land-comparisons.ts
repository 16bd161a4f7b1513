/** Calls that only serve to compare the lake with the service: for its counts, its products, and a sample of items. */

import type { Landing } from '../../journal/landings.js';
import { countRows } from '../../lake/slices.js';
import type { RunPlan } from '../../plan/plan-run.js';
import { listParts } from '../../source/dataset-client.js';
import { landFacets } from '../../source/datasets.js';
import type { ItemFile } from '../../source/item-files.js';
import { choosePage, landProducts } from '../../source/products.js';
import { type LandedSample, landSample, skipSample } from '../../source/sample.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql, writeTyped } from '../../sql/sql.js';
import type { TableState } from '../../tables/table.js';
import type { World } from '../open/run-parts.js';

/**
 * Asks for the service's counts, one call, right after a complete copy has landed: they test all of it. Only
 * complete copies of one dataset, or of all, are compared: an item in two datasets counts in each. A run without a call
 * left skips it.
 */
export async function askFacets(
  { client, io, witness }: World,
  landing: Landing,
  { comparisons, parts }: RunPlan,
): Promise<string | undefined> {
  const [part] = listParts(client, parts);
  if (!comparisons.facets || part === undefined) return undefined;
  const answer = await landFacets(part.client, landing, io).catch((error: unknown) => skipSample(error, io));
  if (answer !== undefined) witness.look('/facets', JSON.parse(answer));
  return answer;
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

/**
 * Lands products of the service: all of them, or a page as a sample; undefined where none are compared. The lake's own
 * need not be made yet: those of the run before say how many pages there are.
 */
export async function landServiceProducts(
  { client, io }: World,
  landing: Landing,
  { comparisons, parts }: RunPlan,
  products: TableState,
): Promise<ItemFile[] | undefined> {
  const isWanted = comparisons.products === 'all';
  const [part] = listParts(client, parts);
  if (comparisons.products === 'none' || part === undefined) return undefined;
  const count = countRows(products.files);
  const only = isWanted ? undefined : choosePage(count, landing.runNumber);
  return landProducts(part.client, landing, only, io).catch((error: unknown) => {
    // A sample may be skipped; a table that the user asked for may not.
    if (isWanted) throw error;
    return skipSample(error, io);
  });
}

/** The sampled items' rows of the lake, and their ids. */
interface ChosenSample {
  rows: Relation;
  ids: bigint[];
}

/** Sampled items as the lake has them and as the service shows them. */
export interface AskedSample extends LandedSample {
  rows: Relation;
}

/** The items of which a sample is chosen. */
interface SampledItems {
  items: Relation;
  /** Names of the datasets that the key can read; undefined is all. */
  readable: readonly string[] | undefined;
  /** Items that come first, because they are read already. */
  first: readonly bigint[];
}

/**
 * Chooses a seeded sample: another one for another seed. Items that are only in datasets that the key can't read are left
 * out: the service does not show them.
 */
export async function chooseSample(
  graph: RelationGraph,
  { items, readable, first }: SampledItems,
  size: number,
  seed: string,
): Promise<ChosenSample> {
  const shown =
    readable === undefined
      ? sql``
      : sql` AND (coalesce(len(datasets), 0) = 0 OR list_has_any(datasets, ${code(writeTyped('VARCHAR[]', readable))}))`;
  const rows = graph.table(
    'sampled_items',
    sql`SELECT * FROM ${items} WHERE gone_at IS NULL${shown} ORDER BY item_id NOT IN (${code(first.join(', ') || '-1')}), hash(item_id, ${seed}) LIMIT ${BigInt(size)}`,
  );
  const ids = await graph.rows(sql`SELECT item_id FROM ${rows}`);
  return { rows, ids: ids.map((row) => row.item_id as bigint) };
}

/** Reads the sampled items one by one from the service. Undefined without a call left, or an answer. */
export async function askSample(
  { client, io }: Pick<World, 'client' | 'io'>,
  landing: Landing,
  { rows, ids }: ChosenSample,
): Promise<AskedSample | undefined> {
  const landed = await landSample(client, landing, ids, io).catch((error: unknown) => skipSample(error, io));
  return landed && { rows, ...landed };
}
