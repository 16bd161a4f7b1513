import { typeServiceProducts } from '../../apply/service-products.js';
import { countRows } from '../../lake/slices.js';
import { listParts } from '../../source/dataset-client.js';
import type { ItemFile } from '../../source/item-files.js';
import { choosePage, landProducts } from '../../source/products.js';
import { skipSample } from '../../source/sample.js';
import type { Relation } from '../../sql/relation.js';
import { sql } from '../../sql/sql.js';
import type { LandedInput } from '../land/land-run.js';
import type { Run } from '../open/open-run.js';
import { type FoundDifferences, NOTHING_COMPARED, readDifferences } from './prove-facets.js';

/**
 * Lands products of the service: all of them, or a page as a sample; undefined where none are compared. The lake's own
 * need not be made yet: those of the run before say how many pages there are.
 */
export async function landServiceProducts(
  run: Run,
  { plan: { comparisons, parts } }: LandedInput,
): Promise<ItemFile[] | undefined> {
  const { landing, io, tables } = run;
  const isWanted = comparisons.products === 'all';
  const [part] = listParts(run.client, parts);
  if (comparisons.products === 'none' || part === undefined) return undefined;
  const count = countRows(tables.products.files);
  const only = isWanted ? undefined : choosePage(count, landing.runNumber);
  return landProducts(part.client, landing, only, io).catch((error: unknown) => {
    // A sample may be skipped; a table that the user asked for may not.
    if (isWanted) throw error;
    return skipSample(error, io);
  });
}

/**
 * Types landed products of the service, and compares them with the lake's as they would be (section 1 shows the
 * matching in words only); no rows where none are compared. A difference has the service's id and what differs.
 */
export async function proveProducts(
  run: Run,
  { products, product_prices }: { products: Relation; product_prices: Relation },
  files: ItemFile[] | undefined,
): Promise<{ rows: Relation | undefined; found: FoundDifferences }> {
  if (files === undefined) return { rows: undefined, found: NOTHING_COMPARED };
  const { graph, io, landing, workFolder } = run;
  const { look } = run.drift;
  const { rows, unreadable } = await typeServiceProducts(graph, files, { runId: landing.runId, workFolder, look });
  if (unreadable > 0) io.log('warn', 'products.unreadable', { rows: unreadable });
  const different = graph.model('compare_products', { landed_service_products: rows, product_prices, products }, {});
  const found = await readDifferences(
    run,
    'products',
    sql`SELECT
    (SELECT count(*) FROM ${rows}) AS compared,
    (SELECT count(*) FROM ${different}) AS different,
    (SELECT coalesce(CAST(to_json(list({'product': service_id, 'differences': differences})) AS VARCHAR), '[]')
     FROM (FROM ${different} ORDER BY service_id LIMIT 100)) AS differences`,
  );
  return { rows, found };
}
