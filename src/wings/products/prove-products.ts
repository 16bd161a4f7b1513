import type { WatchedRun } from '../../run/open/witness.js';
import type { ItemFile } from '../../source/item-files.js';
import type { Relation } from '../../sql/relation.js';
import { sql } from '../../sql/sql.js';
import { type FoundDifferences, readDifferences } from '../differences.js';
import { typeServiceProducts } from './type-products.js';

/**
 * Types the downloaded products, and compares them with the products table as this run would publish it. Differences
 * are possible, because the API document describes only in words how items are grouped into products (API §1). Each
 * difference has the service's product id and the names of the fields that differ.
 */
export async function proveProducts(
  { io, graph, landing, workFolder, look }: WatchedRun,
  { products, product_prices }: { products: Relation; product_prices: Relation },
  files: readonly ItemFile[],
): Promise<{ rows: Relation; found: FoundDifferences }> {
  const { rows, unreadable } = await typeServiceProducts(graph, files, { runId: landing.runId, workFolder, look });
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
