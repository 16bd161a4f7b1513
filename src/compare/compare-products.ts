import { readModel } from '../duckdb/model-sql.js';
import { listParts } from '../extract/dataset-client.js';
import { choosePage, landProducts } from '../extract/products.js';
import { skipSample } from '../extract/sample.js';
import { loadServiceProducts } from '../merge/service-products.js';
import type { Extract } from '../run/landed-run.js';
import type { Run } from '../run/open-run.js';
import { type FoundDifferences, NOTHING_COMPARED, readDifferences } from './found-differences.js';

/**
 * Lands products of the service (all of them, or a page as a sample), and compares them with views `products` and
 * `product_prices` (section 1 shows the matching in words only). Of each difference: the service's id and what differs. Leaves them typed in table `landed_service_products`.
 */
export async function compareProducts(run: Run, { plan: { comparisons, parts } }: Extract): Promise<FoundDifferences> {
  const { db, landing, io, workFolder } = run;
  const isWanted = comparisons.products === 'all';
  const [part] = listParts(run.client, parts);
  if (comparisons.products === 'none' || part === undefined) return NOTHING_COMPARED;
  const count = await db.row('SELECT count(*) AS n FROM products');
  const only = isWanted ? undefined : choosePage(count?.n as bigint, landing.runNumber);
  const files = await landProducts(part.client, landing, only, io).catch((error: unknown) => {
    // A sample may be skipped; a table that the user asked for may not.
    if (isWanted) throw error;
    return skipSample(error, io);
  });
  if (files === undefined) return NOTHING_COMPARED;
  await loadServiceProducts(db, files, workFolder, run.drift.look);
  await db.run(`CREATE OR REPLACE TEMP TABLE different_products AS ${readModel('compare_products')}`);
  const found = await readDifferences(
    db,
    `SELECT
    (SELECT count(*) FROM landed_service_products) AS compared,
    (SELECT count(*) FROM different_products) AS different,
    (SELECT coalesce(CAST(to_json(list({'product': service_id, 'differences': differences})) AS VARCHAR), '[]')
     FROM (FROM different_products ORDER BY service_id LIMIT 100)) AS differences`,
  );
  io.log('debug', 'products.compared', { compared: found.compared, different: found.different });
  return found;
}
