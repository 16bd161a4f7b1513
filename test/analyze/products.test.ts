import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { createMacros, readModel } from '../../src/sql/model.js';
import { loadRows } from '../load-rows.js';

let db: Database;
beforeEach(async () => {
  db ??= await Database.open();
  await createMacros(db);
});
afterAll(() => db.close());

type Item = Record<string, string | number | boolean | null>;

/** The products of listed items, oldest first, whose keys are made from GTIN, brand and part number. */
async function deriveProducts(items: Item[], columns: string): Promise<unknown[]> {
  const rows = items.map((item, index) => ({
    item_id: index + 1,
    site_id: 1,
    is_listed: true,
    first_seen_at: `2026-01-0${index + 1}T00:00:00Z`,
    ...item,
  }));
  await loadRows(db, 'offers', 'items', rows);
  await db.run(`CREATE OR REPLACE TABLE items AS
    SELECT * REPLACE (product_key(gtin, brand, mpn) AS product_id, valid_gtin14(gtin) AS gtin14) FROM offers`);
  const products = await db.rows(`SELECT ${columns} FROM (${readModel('products')}) ORDER BY product_id`);
  return products.map((row) => Object.values(row).map((value) => (typeof value === 'bigint' ? Number(value) : value)));
}

const GTIN = { gtin: '4006381333931' };

describe('the texts of a product', () => {
  it('are brand and part number of the oldest listed offers that name one', async () => {
    const offers = [
      { ...GTIN, brand: null, mpn: null },
      { ...GTIN, brand: null, mpn: 'M2' },
      { ...GTIN, brand: 'B3', mpn: 'M3' },
    ];
    expect(await deriveProducts(offers, 'brand, mpn')).toEqual([['B3', 'M2']]);
  });

  it('are name, path and slug of one category, also where the oldest that is given lacks a name', async () => {
    const offers = [
      { ...GTIN, category_slug: null, category_name: 'No slug', category_path: 'No slug' },
      { ...GTIN, category_slug: 'drills', category_name: null, category_path: null },
      { ...GTIN, category_slug: 'saws', category_name: 'Saws', category_path: 'Tools > Saws' },
    ];
    const columns = 'category_slug, category_name, category_path';
    expect(await deriveProducts(offers, columns)).toEqual([['drills', null, null]]);
  });
});

describe('the oldest offer', () => {
  const at = '2026-01-05T00:00:00Z';

  it('has the lowest item id of those that were first seen together', async () => {
    const offers = [
      { ...GTIN, item_id: 3, title: 'c', brand: 'C', first_seen_at: at },
      { ...GTIN, item_id: 2, title: 'b', brand: 'B', first_seen_at: at },
      { ...GTIN, item_id: -9, title: 'later', brand: 'L', first_seen_at: '2026-01-06T00:00:00Z' },
    ];
    expect(await deriveProducts(offers, 'title, brand')).toEqual([['b', 'B']]);
  });

  it('is one whose first time is known', async () => {
    const offers = [
      { ...GTIN, title: 'unknown', mpn: 'U', first_seen_at: null },
      { ...GTIN, title: 'known', mpn: 'K', first_seen_at: at },
    ];
    expect(await deriveProducts(offers, 'title, mpn')).toEqual([['known', 'K']]);
    expect(await deriveProducts(offers.slice(0, 1), 'title, mpn')).toEqual([['unknown', 'U']]);
  });
});

describe('offers of one product', () => {
  it('are counted, and the shops that they are in', async () => {
    const offers = [1, 2, 2, null].map((site_id) => ({ ...GTIN, site_id }));
    expect(await deriveProducts(offers, 'offers, shops')).toEqual([[4, 2]]);
  });

  it('are those of a GTIN of 12 digits and of its forms with and without leading zeros', async () => {
    const forms = ['036000291452', '0036000291452', '00036000291452', '36000291452'];
    const offers = forms.map((gtin) => ({ gtin }));
    expect(await deriveProducts(offers, 'product_id, gtin14, offers')).toEqual([['36000291452', '00036000291452', 4]]);
  });

  it('are not those of the same brand and part number where only some name a GTIN', async () => {
    const same = { brand: 'Bosch', mpn: 'GSR 12V' };
    const offers = [{ ...same, ...GTIN }, same, { ...same, brand: 'BOSCH ' }];
    expect(await deriveProducts(offers, 'product_id, offers')).toEqual([
      ['4006381333931', 1],
      ['bosch-gsr12v', 2],
    ]);
  });
});
