import * as z from 'zod';
import { int64 } from '../../api/wire-types.js';
import { countRows } from '../../lake/slices.js';
import { countPages } from '../../plan/count-pages.js';
import type { ComparisonPlan, PlannedNext, Testimony, Watch, WatchedRun, Witness } from '../../run/open/witness.js';
import { skipSample } from '../../source/allow-skipping.js';
import { listParts } from '../../source/dataset-client.js';
import type { ItemFile } from '../../source/item-files.js';
import type { Wing } from '../wing.js';
import { choosePage, landProducts, PRODUCTS_A_PAGE } from './land-products.js';
import { proveProducts } from './prove-products.js';

function watch(run: WatchedRun): Watch {
  let files: ItemFile[] | undefined;
  return {
    async ask({ plan }) {
      return async () => {
        files = await landByPlan(run, plan);
      };
    },
    async judge({ rows }): Promise<Testimony> {
      if (files === undefined) return { findings: {} };
      const own = { products: await rows('products'), product_prices: await rows('product_prices') };
      const { rows: typed, found } = await proveProducts(run, own, files);
      const isKept = run.pipeline.source.products !== 'none';
      return {
        findings: {
          products_compared: found.compared,
          products_different: found.different,
          product_differences: found.differences,
        },
        table: isKept ? { name: 'service_products', rows: typed } : undefined,
      };
    },
  };
}

/**
 * Downloads the service's products, either all pages or one page as a sample. The page depends on the number of
 * products in the lake and on the run's number. Returns undefined if the run doesn't compare products.
 */
async function landByPlan(
  { client, io, landing, tables }: WatchedRun,
  { comparisons, parts }: ComparisonPlan,
): Promise<ItemFile[] | undefined> {
  const isWanted = comparisons.products === 'all';
  const [part] = listParts(client, parts);
  if (comparisons.products === 'none' || part === undefined) return undefined;
  const only = isWanted ? undefined : choosePage(countRows(tables.products.files), landing.runNumber);
  return landProducts(part.client, landing, only, io).catch((error: unknown) => {
    // A failed sample is skipped. If the user requested the table of all products, the error is thrown.
    if (isWanted) throw error;
    return skipSample(error, io);
  });
}

const counted = z.looseObject({ totalElements: int64 });

async function estimate(next: PlannedNext) {
  return {
    step: 'products',
    calls: await countCalls(next),
    basis: "the service's product grouping, to compare with the lake's",
  };
}

async function countCalls({ client, journal, plan: { comparisons, parts } }: PlannedNext): Promise<number> {
  const [part] = listParts(client, parts);
  if (part === undefined || comparisons.products === 'none' || journal.state.comparisons.allProducts !== undefined)
    return 0;
  if (comparisons.products === 'page') return 1;
  const { totalElements } = await part.client.json('/products', { size: 1 }, counted);
  return Math.max(1, countPages(totalElements, PRODUCTS_A_PAGE) - journal.state.pages.products.pages);
}

const witness: Witness = { watch, estimate };

/** Compares the service's products with the lake's, and stores them in a table if the pipeline requests it. */
export const products: Wing = { witnesses: [witness] };
