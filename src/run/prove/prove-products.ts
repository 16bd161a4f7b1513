import { typeServiceProducts } from '../../apply/service-products.js';
import type { ItemFile } from '../../source/item-files.js';
import type { Relation } from '../../sql/relation.js';
import { sql } from '../../sql/sql.js';
import type { Engine, World } from '../open/run-parts.js';
import { type FoundDifferences, NOTHING_COMPARED, readDifferences } from './prove-facets.js';

/**
 * Types landed products of the service, and compares them with the lake's as they would be (section 1 shows the
 * matching in words only); no rows where none are compared. A difference has the service's id and what differs.
 */
export async function proveProducts(
  { io, witness }: World,
  { graph, workFolder }: Engine,
  runId: string,
  { products, product_prices }: { products: Relation; product_prices: Relation },
  files: ItemFile[] | undefined,
): Promise<{ rows: Relation | undefined; found: FoundDifferences }> {
  if (files === undefined) return { rows: undefined, found: NOTHING_COMPARED };
  const { rows, unreadable } = await typeServiceProducts(graph, files, { runId, workFolder, look: witness.look });
  if (unreadable > 0) io.log('warn', 'products.unreadable', { rows: unreadable });
  const different = graph.model('compare_products', { landed_service_products: rows, product_prices, products }, {});
  const found = await readDifferences(
    io,
    graph,
    'products',
    sql`SELECT
    (SELECT count(*) FROM ${rows}) AS compared,
    (SELECT count(*) FROM ${different}) AS different,
    (SELECT coalesce(CAST(to_json(list({'product': service_id, 'differences': differences})) AS VARCHAR), '[]')
     FROM (FROM ${different} ORDER BY service_id LIMIT 100)) AS differences`,
  );
  return { rows, found };
}
