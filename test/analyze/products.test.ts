import { afterAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { createMacros, readModel } from '../../src/sql/model.js';
import { loadRows } from '../load-rows.js';

const db = await Database.open();
afterAll(() => db.close());
await createMacros(db);

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

describe('offers of one product', () => {
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
