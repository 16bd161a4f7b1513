import type { ApiClient } from '../../api/client.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import { countBytes } from '../../journal/reads.js';
import { type ItemFile, ItemFiles, listItemFiles } from '../../source/item-files.js';
import { readProductPage } from '../../source/page.js';

export const PRODUCTS_A_PAGE = 200;

/**
 * Downloads products, starting with the products that have the most offers (API §4, /products). Downloads all pages or,
 * as a sample, only page number `only`. An interrupted run continues with its next page.
 */
export async function landProducts(
  client: ApiClient,
  landing: Landing,
  only: number | undefined,
  io: Io,
): Promise<ItemFile[]> {
  const { journal } = landing;
  if (journal.state.comparisons.allProducts === undefined) {
    const files = new ItemFiles(landing, 'products', io);
    const landed = journal.state.pages.products;
    let { rows } = landed;
    const isSampled = only !== undefined && landed.pages > 0;
    try {
      for (let page = only ?? landed.pages; !isSampled; page++) {
        const { body } = await client.bytes('/products', { sort: '-offers', size: PRODUCTS_A_PAGE, page });
        const answer = readProductPage(body, `/products?page=${page}`);
        await files.land({ client, dataset: undefined }, body, answer.rows);
        rows += BigInt(answer.rows.length);
        const done = only !== undefined || answer.rows.length === 0 || page + 1 >= answer.totalPages;
        const bytes = countBytes(journal.state.pages.products);
        io.progress({ step: 'derive', part: 'products', rows, totalRows: answer.totalElements, bytes, done });
        if (done) break;
      }
    } finally {
      await files.close();
    }
    await journal.append({ type: 'products.done', whole: only === undefined, calls: client.calls() });
  }
  return listItemFiles(landing, 'products');
}

/** Chooses the page of products that a run samples. Each run samples a different page. */
export function choosePage(products: bigint, seed: bigint): number {
  const pages = (products + BigInt(PRODUCTS_A_PAGE) - 1n) / BigInt(PRODUCTS_A_PAGE);
  // Because 7919 is prime, consecutive seeds reach every page, unless the number of pages is a multiple of 7919.
  return pages === 0n ? 0 : Number((seed * 7919n) % pages);
}
