import { afterAll, describe, expect, it } from 'vitest';
import {
  ask,
  compare,
  isRight,
  type Mover,
  moneyOf,
  openMoverWorld,
  type Plain,
  type Verdict,
} from './moving-world.js';
import type { Segment } from './price-world.js';

/** Every row that analysis assortment_gaps must have, in its order. */
function findGaps(listings: readonly Mover[], verdicts: ReadonlyMap<bigint, Verdict>, own: number, minShops: number) {
  const rows: Plain[] = [];
  const keys = new Set(listings.map(({ productId, currency }) => `${productId} ${currency}`));
  for (const key of keys) {
    const [productId = '', currency = ''] = key.split(' ');
    const mine = listings.filter((one) => one.productId === productId && one.siteId === own);
    const ends = mine.map(({ segments }) => (segments.at(-1) as Segment).to);
    if (ends.includes(Infinity)) continue;
    const shops = [1, 2, 3, 4, 5, 6].flatMap((siteId) => {
      const offers = listings.filter(
        (one) =>
          siteId !== own &&
          one.siteId === siteId &&
          one.productId === productId &&
          one.currency === currency &&
          isRight(verdicts.get(one.id)),
      );
      const counted = offers.filter(({ id }) => verdicts.get(id)?.isCounted);
      if (counted.length === 0) return [];
      const prices = counted.map((one) => moneyOf(one, one.segments.at(-1)) as bigint);
      return [
        {
          siteId,
          price: prices.sort(compare)[0] as bigint,
          soldAt: Math.min(...offers.map(({ firstSeenAt }) => firstSeenAt)),
        },
      ];
    });
    if (shops.length < minShops) continue;
    shops.sort((a, b) => compare(a.price, b.price) || a.siteId - b.siteId);
    const prices = shops.map(({ price }) => price);
    const [low = 0n, high = 0n] = [prices[(prices.length - 1) >> 1], prices[prices.length >> 1]];
    const sold = shops.map(({ soldAt }) => soldAt).sort((a, b) => a - b);
    const credits = shops.filter(({ siteId }) => siteId % 2 === 0).map(({ siteId }) => `CC BY ${siteId}`);
    rows.push({
      product_id: productId,
      title: `Title ${productId}`,
      brand: null,
      category_name: null,
      category_slug: listings.find((one) => one.productId === productId)?.category,
      currency,
      shops: BigInt(shops.length),
      lowest: prices[0],
      lowest_shop: `Shop ${shops[0]?.siteId}`,
      median: (low + high + 1n) / 2n,
      highest: prices.at(-1),
      first_sold_at: sold[0],
      sold_widely_at: sold[minShops - 1],
      own_ended_at: ends.length === 0 ? null : Math.max(...ends),
      attribution: credits.sort(),
    });
  }
  const keyOf = ({ product_id, currency }: Plain) => `${product_id} ${currency}`;
  return rows.sort((a, b) => compare(b.shops as bigint, a.shops as bigint) || (keyOf(a) < keyOf(b) ? -1 : 1));
}

describe('assortment_gaps', async () => {
  const { db, listings, verdicts } = await openMoverWorld(7);
  afterAll(() => db.close());
  const all = { top: '9999' };

  it.each([1, 2, 3, 4, 5, 6])('are the products that enough other shops list, but shop %i does not', async (own) => {
    let rows = 0;
    for (const minShops of [1, 2, 3]) {
      const found = await ask(db, 'assortment_gaps', { ...all, own_site: String(own), min_shops: String(minShops) });
      expect(found).toEqual(findGaps(listings, verdicts, own, minShops));
      rows += found.length;
    }
    expect(rows).toBeGreaterThan(3);
  });

  it('default to two shops, can be filtered by category or currency, and start with the most widely sold', async () => {
    const rows = await ask(db, 'assortment_gaps', { own_site: '2' });
    expect(rows).toEqual(findGaps(listings, verdicts, 2, 2));
    expect(await ask(db, 'assortment_gaps', { own_site: '2', top: '2' })).toEqual(rows.slice(0, 2));
    const isOf = (name: string, value: string) => rows.filter((row) => row[name] === value);
    expect(await ask(db, 'assortment_gaps', { own_site: '2', category: 'toys' })).toEqual(
      isOf('category_slug', 'toys'),
    );
    expect(await ask(db, 'assortment_gaps', { own_site: '2', currency: 'EUR' })).toEqual(isOf('currency', 'EUR'));
  });

  it("require the id of the user's own shop, which must exist in the lake", async () => {
    await expect(ask(db, 'assortment_gaps')).rejects.toThrow('set own_site to the site_id of your own shop');
    await expect(ask(db, 'assortment_gaps', { own_site: '99' })).rejects.toThrow(
      'own_site 99 is not a site_id in the sites table',
    );
  });
});
