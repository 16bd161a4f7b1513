import { readModel } from '../duckdb/model-sql.js';
import { listParts } from '../extract/dataset-client.js';
import type { ItemFile } from '../extract/item-files.js';
import { choosePage, landProducts } from '../extract/products.js';
import { skipSample } from '../extract/sample.js';
import { loadServiceProducts } from '../merge/service-products.js';
import type { Extract } from '../run/landed-run.js';
import type { Run } from '../run/open-run.js';
import { type FoundDifferences, NOTHING_COMPARED, readDifferences } from './found-differences.js';

/**
 * Lands products of the service: all of them, or a page as a sample; undefined where none are compared. The lake's own
 * need not be made yet: those of the run before say how many pages there are.
 */
export async function landServiceProducts(
  run: Run,
  { plan: { comparisons, parts } }: Extract,
): Promise<ItemFile[] | undefined> {
  const { landing, io, tables } = run;
  const isWanted = comparisons.products === 'all';
  const [part] = listParts(run.client, parts);
  if (comparisons.products === 'none' || part === undefined) return undefined;
  const count = tables.products.files.reduce((sum, { rows }) => sum + rows, 0n);
  const only = isWanted ? undefined : choosePage(count, landing.runNumber);
  return landProducts(part.client, landing, only, io).catch((error: unknown) => {
    // A sample may be skipped; a table that the user asked for may not.
    if (isWanted) throw error;
    return skipSample(error, io);
  });
}

/**
 * Compares landed products of the service with views `products` and `product_prices` (section 1 shows the matching in
 * words only). Of each difference: the service's id and what differs. Leaves them typed in table `landed_service_products`.
 */
export async function compareProducts(
  { db, io, workFolder, drift }: Run,
  files: ItemFile[] | undefined,
): Promise<FoundDifferences> {
  if (files === undefined) return NOTHING_COMPARED;
  const unreadable = await loadServiceProducts(db, files, workFolder, drift.look);
  if (unreadable > 0) io.log('warn', 'products.unreadable', { rows: unreadable });
  await db.run(`CREATE OR REPLACE TABLE different_products AS ${readModel('compare_products')}`);
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
