import { afterAll, describe, expect, it } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { readAnalysis } from '../../src/sql/model.js';

const db = await Database.open();
afterAll(() => db.close());

/** How much is in a pack, as `0.5 l`; null if that is unknown. */
async function measure(title: string | null, attributes: object | null = null): Promise<string | null> {
  await db.run('CREATE OR REPLACE TABLE listed_offers AS SELECT $1::VARCHAR AS title, $2::VARCHAR AS attributes', [
    title,
    attributes && JSON.stringify(attributes),
  ]);
  const row = await db.row(
    `SELECT millionths / 1e6 || ' ' || unit AS pack, (millionths IS NULL) = (unit IS NULL) AS is_whole
     FROM (${readAnalysis('pack_sizes')})`,
  );
  expect(row?.is_whole).toBe(true);
  return row?.pack as string | null;
}

describe('a title', () => {
  it.each([
    ['Cola 750ml', '0.75 l'],
    ['Wine 75 cl', '0.75 l'],
    ['Milk 5 dl', '0.5 l'],
    ['Juice 1,5 litres', '1.5 l'],
    ['Flour 1,5 kg', '1.5 kg'],
    ['Ham 12,5 dkg', '0.125 kg'],
    ['Pills 250 mg', '0.00025 kg'],
    ['Soda 12 fl oz', '0.354882 l'],
    ['Soda 12 fl. oz.', '0.354882 l'],
    ['Coffee 8 oz', '0.226796 kg'],
    ['Beef 2 lb', '0.907185 kg'],
    ['Сахар 1 кг', '1.0 kg'],
    ['Eggs 10 kom', '10.0 piece'],
    ['Eggs 4 szt.', '4.0 piece'],
    ['Tücher 10 Stk', '10.0 piece'],
    ['Bags 35 l, 15 pcs', '35.0 l'],
  ])('%s has %s', async (title, pack) => {
    expect(await measure(title)).toBe(pack);
  });

  it.each([
    ['Cola 6 x 0.5 l', '3.0 l'],
    ['Cola 0,5 l x 6', '3.0 l'],
    ['Tuna 2X200G', '0.4 kg'],
    ['Tuna 2 × 3 x', null],
    ['Water lot de 6 bottles 50 cl', '3.0 l'],
    ['Beer 33cl 24-pack', '7.92 l'],
    ['Bier 0,5 l 6er Pack', '3.0 l'],
    ['Yoghurt pack of 4, 125 g', '0.5 kg'],
    ['Flour 2 kg 10 kom', '2.0 kg'],
  ])('%s counts packs: %s', async (title, pack) => {
    expect(await measure(title)).toBe(pack);
  });

  it.each([
    ['Rice 1.000 g', '1.0 kg'],
    ['Milk 1.000 ml', '1.0 l'],
    ['Chips 40.000 g', '0.04 kg'],
    ['Salt 0.500 g', '0.0005 kg'],
    ['Salt 1.50 g', '0.0015 kg'],
    ['Flour 1.000 kg', '1.0 kg'],
    ['Cola 0.330 l', '0.33 l'],
    ['Rice 1.234,5 g', '1.2345 kg'],
    ['Rice 1,234.5 g', '1.2345 kg'],
    ['Rice 1.000.000 g', '1000.0 kg'],
    ['Rice 1,500,000 g', '1500.0 kg'],
    ['Rice 1 500 g', '1.5 kg'],
    ['Rice 1 500.5 g', '0.5005 kg'],
    ['Juice 1 000 ml', '1.0 l'],
  ])('%s has three digits that are thousands, or decimals: %s', async (title, pack) => {
    expect(await measure(title)).toBe(pack);
  });

  it.each([
    ['Apples 1/2 kg', '0.5 kg'],
    ['Detergent 3 + 1 kg', '4.0 kg'],
    ['Snack 190+20 G', '0.21 kg'],
    ['Vitamin D3+ 500 g', '0.5 kg'],
    ['Φέτα 450 γρ', '0.45 kg'],
    ['Vitamin C 1000 mg 30 tablets', '30.0 piece'],
    ['Vitamin C 1000mg, 30 Kapseln', '30.0 piece'],
    ['Orange juice 64 oz', '1.892706 l'],
    ['Ground coffee 64 oz', '1.814369 kg'],
  ])('%s has fractions, sums and strengths: %s', async (title, pack) => {
    expect(await measure(title)).toBe(pack);
  });

  it.each([
    ['Phone 5G', null],
    ['Phone 64GB', null],
    ['Spice 5 g', '0.005 kg'],
    ['Spice 7 G', '0.007 kg'],
    ['Spice 50 G', '0.05 kg'],
    ['Spice 3.5 G', '0.0035 kg'],
    ['Tea 0 g', null],
    ['Tea', null],
  ])('%s names a pack only where it is one: %s', async (title, pack) => {
    expect(await measure(title)).toBe(pack);
  });
});

describe('the shop’s attributes', () => {
  it.each([
    [{ quantity: 500, unit: 'ml' }, '0.5 l'],
    [{ quantity: '0,5', unit: 'L' }, '0.5 l'],
    [{ quantity: 10, unit: 'm' }, '10.0 m'],
    [{ quantity: '1/2', unit: 'kg' }, '0.5 kg'],
    [{ quantity: 5, unit: 'G' }, '0.005 kg'],
    [{ quantity: 10, unit: 'boxes' }, null],
    [{ quantity: '4 x 100 g' }, '0.4 kg'],
    [{ quantity: 'some', unit: 'kg' }, '2.0 kg'],
    [{ quantity: 500 }, '2.0 kg'],
    [{ unit: 'ml' }, '2.0 kg'],
    [{ netWeight: '300 g' }, '0.3 kg'],
    [{ packSize: '3 pcs', size: '1 l' }, '1.0 l'],
    [{ colour: 'red' }, '2.0 kg'],
  ])('%j count before the title: %s', async (attributes, pack) => {
    expect(await measure('Flour 2 kg', attributes)).toBe(pack);
  });

  it('count where there is no title, and nothing is known without both', async () => {
    expect(await measure(null, { quantity: 500, unit: 'ml' })).toBe('0.5 l');
    expect(await measure(null, { size: '500 ml' })).toBe('0.5 l');
    expect(await measure(null)).toBeNull();
  });
});
