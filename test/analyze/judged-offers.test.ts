import type { DuckDBListValue, DuckDBValue } from '@duckdb/node-api';
import { afterAll, afterEach, describe, expect, it, test } from 'vitest';
import { readAnalysis, readModel } from '../../src/sql/model.js';
import { insertRows, openEmptyTables } from '../check/lake-world.js';
import { seedRandom } from './offer-world.js';
import { type JudgedOffer, judgeSlowly } from './slow-judge.js';

const db = await openEmptyTables();
await insertRows(db, 'sites', [{ attribution: "'CC BY 4.0'" }]);
afterAll(() => db.close());

interface Listing {
  price: string;
  site?: number;
  title?: string;
  attributes?: Record<string, unknown>;
  currency?: string;
  brand?: string | undefined;
  daysUnseen?: number;
}

/** Replaces the listed items; each item's source was last seen `days_unseen` days ago. */
async function insertItems(rows: Record<string, unknown>[]): Promise<void> {
  await db.run('DELETE FROM items');
  await db.run(
    `INSERT INTO items BY NAME
     SELECT * EXCLUDE (days_unseen), item_id AS source_id, true AS is_listed,
       TIMESTAMPTZ '2026-11-20 12:00:00Z' - INTERVAL 1 DAY * days_unseen AS last_seen_at
     FROM (SELECT unnest(from_json($1, '[{"item_id":"BIGINT","site_id":"BIGINT","product_id":"VARCHAR",
       "price":"VARCHAR","title":"VARCHAR","brand":"VARCHAR","attributes":"VARCHAR","currency":"VARCHAR",
       "days_unseen":"INTEGER"}]'), recursive := true))`,
    [JSON.stringify(rows)],
  );
  await db.run('DELETE FROM sources');
  await db.run(
    `INSERT INTO sources BY NAME SELECT site_id, source_id, last_seen_at,
      last_seen_at < TIMESTAMPTZ '2026-11-06 12:00:00Z' AS is_stale FROM items`,
  );
}

/** Judges the listings of one product, each in a separate shop unless a shop is given. */
async function judge(...listings: Listing[]): Promise<Record<string, DuckDBValue>[]> {
  await insertItems(
    listings.map((one, index) => ({
      item_id: index + 1,
      site_id: one.site ?? index + 1,
      product_id: 'p',
      price: one.price,
      title: one.title,
      brand: one.brand,
      attributes: one.attributes === undefined ? undefined : JSON.stringify(one.attributes),
      currency: one.currency ?? 'EUR',
      days_unseen: one.daysUnseen ?? 0,
    })),
  );
  return judgeItems();
}

/** Judges the current items. */
async function judgeItems(): Promise<Record<string, DuckDBValue>[]> {
  await db.run(`CREATE OR REPLACE TABLE product_prices AS ${readModel('product_prices')}`);
  await db.run(`CREATE OR REPLACE TABLE offers AS ${readAnalysis('judged_offers')}`);
  return db.rows('SELECT * FROM offers ORDER BY item_id');
}

/** Returns the findings of each listing, or a dash if it has none. */
const findings = async (...listings: Listing[]) =>
  (await judge(...listings)).map((row) => (row.findings as DuckDBListValue).items.join(' ') || '-').join(', ');
const reasons = async (...listings: Listing[]) => (await judge(...listings)).map(({ reason }) => reason);
const priced = (...prices: string[]): Listing[] => prices.map((price) => ({ price }));

/** Returns the grade in price_spread of the offers that were judged last. */
async function grade(): Promise<string> {
  const row = await db.row(`SELECT grade || ' ' || grade_reason AS text FROM (${readAnalysis('price_spread')})`);
  return String(row?.text);
}

/** Returns the doubts about each listing, or a dash if it has none. */
const doubts = async (...listings: Listing[]) =>
  (await judge(...listings)).map((row) => (row.doubts as DuckDBListValue).items.join(' ') || '-').join(', ');

/** Maps attributes, or words of titles, as the pipeline file does. */
const rule = (kind: 'attribute' | 'word', meaning: string, text: string) =>
  db.run("INSERT INTO offer_rules VALUES ($1, NULL, $2, $3, 'r1')", [kind, meaning, text]);

afterEach(() => db.run('DELETE FROM offer_rules'));

test.each<[string, Listing[], string, string]>([
  ['two shops that differ by 1.6 times', priced('10', '16'), '-, -', 'B only 2 shops'],
  ['two shops that differ by more', priced('10', '16.01'), '-, -', 'C two shops, 1.60 times apart'],
  ['three shops', priced('10', '11', '12'), '-, -, -', 'B only 3 shops'],
  ['four shops', priced('10', '11', '12', '13'), '-, -, -, -', 'A 4 shops agree'],
  ['exactly half and twice the median', priced('5', '8', '10', '13', '20'), '-, -, -, -, -', 'A 5 shops agree'],
  [
    'just outside half and twice the median',
    priced('4.9999', '8', '10', '13', '20.0001'),
    'outlier, -, -, -, outlier',
    'B only 3 shops; left out: outlier',
  ],
  [
    'half and twice the middle of two prices',
    priced('5.5', '10', '12', '22.0001'),
    '-, -, -, outlier',
    'C the lowest price stands alone: the next is 1.82 times as high',
  ],
  [
    'one of three shops off by a hundred',
    priced('1.56', '1.64', '164.00'),
    '-, -, scale',
    'B only 2 shops; left out: scale',
  ],
  [
    'prices that differ by a power of ten each',
    priced('1.10', '10.20', '101'),
    'scale, -, scale',
    'C only 1 of 3 shops can be compared',
  ],
  [
    'a lone high price',
    priced('10', '10', '10', '16.01'),
    '-, -, -, -',
    'C the highest price stands alone: 1.60 times the next',
  ],
  ['two groups of shops', priced('10', '10', '17', '17'), '-, -, -, -', 'B two groups of shops, 1.70 times apart'],
  [
    'a shop that lists the product repeatedly and counts with its lowest price',
    [...priced('5', '4', '4').map((one) => ({ ...one, site: 1 })), { price: '4.50' }],
    'duplicate, -, duplicate, -',
    'B only 2 shops',
  ],
  [
    'placeholder prices',
    priced('0', '0.01', '9999', '12345', '12.50', '12.60'),
    'placeholder, placeholder, placeholder, placeholder, -, -',
    'C only 2 of 5 shops can be compared',
  ],
  ['9,999 forints, which may be a price', priced('9999', '10490'), '-, -', 'B only 2 shops'],
  ['9,999 forints in both shops', priced('9999', '9999'), '-, -', 'B only 2 shops'],
  ['an ordinary price after a correction', priced('54.26', '52'), '-, -', 'B only 2 shops'],
])('%s: the offers have exactly the expected findings and grade', async (_what, listings, found, expected) => {
  expect(await findings(...listings)).toBe(found);
  expect(await grade()).toBe(expected);
});

describe('the reason of a finding includes its figures', () => {
  it('for prices', async () => {
    expect(await reasons(...priced('0', '9999', '10', '11', '12', '13', '30', '1100', '4'))).toEqual([
      'a price of 0.0000 only fills the field',
      '833.25 times the median of 7 shops',
      null,
      null,
      null,
      null,
      '2.50 times the median of 7 shops',
      '91.67 times the median of 7 shops',
      'the median of 7 shops is 3.00 times as high',
    ]);
    expect(await reasons({ price: '5', site: 1 }, { price: '4', site: 1 }, { price: '4.50' })).toEqual([
      'its shop also lists the product for 4.0000',
      null,
      null,
    ]);
  });

  it('for a source that was last seen longer ago than its limit', async () => {
    expect(await reasons({ price: '4', daysUnseen: 14 }, { price: '5', daysUnseen: 15 })).toEqual([
      null,
      'its source was last seen on 2026-11-05',
    ]);
    expect(await grade()).toBe('C only 1 of 2 shops can be compared');
  });

  it('for a currency in which the shop does not usually sell', async () => {
    await db.run("INSERT INTO shop_currencies VALUES (1, 'HUF', 'r1'), (2, 'EUR', 'r1')");
    expect(await reasons({ price: '1290' }, { price: '3.20' })).toEqual([
      'priced in EUR, but its shop sells in HUF',
      null,
    ]);
    await db.run('DELETE FROM shop_currencies');
  });

  it('for goods out of stock, only if an attribute is mapped to availability', async () => {
    const listings = [{ price: '4', attributes: { stock: 'OutOfStock' } }, { price: '5' }];
    expect(await reasons(...listings)).toEqual([null, null]);
    await rule('attribute', 'availability', 'stock');
    expect(await reasons(...listings)).toEqual(['out of stock', null]);
  });

  it('and lists all findings of an offer', async () => {
    await rule('attribute', 'availability', 'stock');
    const listings = [{ price: '0', daysUnseen: 20, attributes: { stock: 0 } }, { price: '5' }];
    expect(await reasons(...listings)).toEqual([
      'a price of 0.0000 only fills the field; its source was last seen on 2026-10-31; out of stock',
      null,
    ]);
    expect(await findings(...listings)).toBe('placeholder stale out_of_stock, -');
  });
});

describe('the condition', () => {
  it.each([
    ['https://schema.org/UsedCondition', 'used'],
    ['Refurbished', 'refurbished'],
    ['DamagedCondition', 'opened'],
    ['open box', 'opened'],
    ['NewCondition', 'new'],
    ['brand new, unused', 'new'],
    ['rabljeno', null],
    [7, null],
  ])('is taken from the mapped attribute %j', async (state, condition) => {
    await rule('attribute', 'condition', 'state');
    const [row] = await judge({ price: '4', attributes: { state } }, { price: '5' });
    const isCounted = condition === null || condition === 'new';
    expect(row).toMatchObject({ condition, is_counted: isCounted, reason: isCounted ? null : condition });
  });

  it('is taken from words that the pipeline file lists, in titles and the attribute, and from no others', async () => {
    const titles = ['Laptop X1 rabljeno', 'Laptop X1 (2. HAND)', 'Laptop X1 secondhand', 'Laptop X1 used'];
    const listings: Listing[] = [
      ...titles.map((title) => ({ price: '4', title })),
      { price: '4', attributes: { state: 'Rabljéno' } },
    ];
    expect(await findings(...listings)).toBe('-, -, -, -, -');
    await rule('word', 'used', 'rabljeno');
    await rule('word', 'used', '2. hand');
    await rule('attribute', 'condition', 'state');
    expect(await findings(...listings)).toBe('condition, condition, -, -, condition');
  });
});

describe('quantity and unit', () => {
  const of = async (attributes: Record<string, unknown>) => {
    const [row] = await judge({ price: '4', attributes }, { price: '5', title: 'Cola 6 x 0.5 l' });
    return [row?.quantity, row?.unit, row?.unit_price && String(row.unit_price)];
  };

  it.each<[Record<string, unknown>, unknown[]]>([
    [{ amount: '500', of: 'g' }, [0.5, 'kg', '8.0000']],
    [{ amount: 0.5, of: 'KG' }, [0.5, 'kg', '8.0000']],
    [{ amount: '0,75 l' }, [0.75, 'l', '5.3333']],
    [{ amount: '33cl' }, [0.33, 'l', '12.1212']],
    [{ amount: 10, of: 'kom' }, [10, 'kom', '0.4000']],
    [{ amount: '120 cm' }, [1.2, 'm', '3.3333']],
    [{ amount: 10 }, [null, null, null]],
    [{ amount: '0', of: 'g' }, [null, null, null]],
    [{ amount: '6 x 0.5 l' }, [null, null, null]],
    [{ amount: 'many', of: 'g' }, [null, null, null]],
  ])('are read from the mapped attributes %j', async (attributes, expected) => {
    await rule('attribute', 'quantity', 'amount');
    await rule('attribute', 'unit', 'of');
    expect(await of(attributes)).toEqual(expected);
  });

  it('are not read from other attributes or the title', async () => {
    expect(await of({ quantity: 500, unit: 'g' })).toEqual([null, null, null]);
    const rows = await judge({ price: '4', title: 'Tea 40 g' }, { price: '5', title: 'Tea 80 g' });
    expect(rows.map(({ quantity }) => quantity)).toEqual([null, null]);
  });
});

describe('the titles and brands of the lowest and the highest price', () => {
  /** Shops with these titles and brands, each a little dearer than the one before. */
  const titled = (...texts: [title: string | undefined, brand?: string][]): Listing[] =>
    texts.map(([title, brand], index) => ({ price: `4.${index}`, ...(title && { title }), brand }));
  const NECTAR: [string, string?][] = [
    ['Nektar jabuka 2 l', 'Bravo'],
    ['BRAVO NEKT. JABUKA', 'BRAVO'],
  ];

  it.each<[string, Listing[], string]>([
    ['share the brand', titled(...NECTAR, ['Toaletni papir 10/1', 'Bravo']), '-, -, -'],
    ['share nothing', titled(...NECTAR, ['Toaletni papir 10/1', 'Zewa']), '-, -, title'],
    ['name another brand beside the same words', titled(...NECTAR, ['Nektar jabuka 2 l', 'Happy Day']), '-, -, brand'],
    ['name a brand that others have in their titles', titled(...NECTAR, ['Nektar', 'Bravo d.o.o.']), '-, -, -'],
    ['name a brand where no other does', titled(['Nektar', 'Bravo'], ['Nektar jabuka'], ['Nektar']), '-, -, -'],
    ['are two titles that share nothing', titled(['Nektar jabuka'], ['Toaletni papir']), 'title, title'],
    ['differ in accents and case', titled(['ČOKOLADA S LJEŠNJACIMA'], ['cokolada'], ['Čokoladica']), '-, -, -'],
    ['consist only of units and numbers', titled(['500 g'], ['Nektar 500 g'], ['Nektar']), '-, -, -'],
    ['are missing', titled([undefined], [undefined]), '-, -'],
    ['belong to a price between them', titled(['Nektar'], ['Toaletni papir'], ['Nektar']), '-, -, -'],
    ['belong to equal prices', priced('4', '4').map((one, n) => ({ ...one, title: `${'ab'[n]}bcd` })), '-, -'],
  ])('raise exactly the expected doubts about the product if they %s', async (_what, listings, expected) => {
    expect(await doubts(...listings)).toBe(expected);
    expect((await judge(...listings)).every(({ is_counted }) => is_counted)).toBe(true);
  });

  it('lower the grade and appear in its reason', async () => {
    const five: [string, string?][] = [['Nektar', 'Bravo'], ...NECTAR, ...NECTAR];
    await judge(...titled(...five, ['Toaletni papir', 'Zewa']));
    expect(await grade()).toBe('C the offer at 4.5000: no other listing shares a word of its title');
    await judge(...titled(...five, ['Nektar', 'Happy Day']));
    expect(await grade()).toBe('B the offer at 4.5000: no other listing names its brand');
  });
});

it('the price ratio compares a price with the median of the shops', async () => {
  const ratios = async (...prices: string[]) =>
    (await judge(...priced(...prices))).map(({ price_ratio }) => Number(price_ratio).toFixed(4));
  expect(await ratios('4', '5', '6', '0')).toEqual(['0.8000', '1.0000', '1.2000', '0.0000']);
  expect(await ratios('4', '6')).toEqual(['0.8000', '1.2000']);
});

describe('an offer', () => {
  it('with a placeholder price is compared with the only other shop, in the singular', async () => {
    expect(await reasons(...priced('12', '9999'))).toEqual([null, '833.25 times the median of 1 shop']);
  });

  it('without another offer of its product and currency has no row', async () => {
    expect(await judge({ price: '4' })).toEqual([]);
    expect(await judge({ price: '4' }, { price: '5', currency: 'PLN' })).toEqual([]);
    expect(await judge({ price: '4' }, { price: '5' }, { price: '5', currency: 'PLN' })).toHaveLength(2);
  });

  it('without another offer is judged by facts alone if an analysis shows it', async () => {
    await judge({ price: '9999', daysUnseen: 15 }, { price: '5', currency: 'PLN' });
    const rows = await db.rows(`SELECT is_counted, reason FROM (${readAnalysis('all_offers')}) ORDER BY item_id`);
    expect(rows).toEqual([
      { is_counted: false, reason: 'its source was last seen on 2026-11-05' },
      { is_counted: true, reason: null },
    ]);
  });

  it('with no source or an unknown one is not stale', async () => {
    for (const source of ['NULL', '99']) {
      await judge({ price: '4', daysUnseen: 15 }, { price: '4' });
      await db.run(`UPDATE items SET source_id = ${source}`);
      expect(await judgeItems()).toMatchObject([{ is_counted: true }, { is_counted: true }]);
    }
  });

  it.each(['price = NULL', 'product_id = NULL', 'currency = NULL', 'is_listed = false'])(
    'has no row if %s',
    async (value) => {
      await judge(...priced('4', '4', '4'));
      await db.run(`UPDATE items SET ${value} WHERE item_id = 1`);
      expect(await judgeItems()).toMatchObject([{ item_id: 2n }, { item_id: 3n }]);
    },
  );
});

it('the findings of random products equal those of a slow loop over their offers', async () => {
  const random = seedRandom(5);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const products = Array.from({ length: 500 }, (_, product) => {
    const level = Math.floor(500 + random() * 400_000);
    return Array.from({ length: 1 + Math.floor(random() * 8) }, (_, nth): JudgedOffer => {
      const scatter = Math.max(
        1,
        Math.round(level * (0.7 + 0.6 * random()) * pick([1, 1, 1, 1, 1, 1, 1, 10, 100, 0.1, 2.7, 1.8])),
      );
      return {
        itemId: product * 10 + nth,
        siteId: Math.floor(random() * 9) + 1,
        units: pick([...Array<bigint>(pick([4, 40])).fill(BigInt(scatter)), BigInt(level), 0n, 100n, 99_990_000n]),
        daysUnseen: pick([...Array<number>(pick([3, 30])).fill(0), 14, 15, 40]),
        usualCurrency: 'EUR',
        availability: pick([undefined, undefined, 'InStock', 'InStock', pick(['InStock', 'OutOfStock'])]),
        condition: pick([undefined, undefined, 'new', pick(['new', 'new', 'used'])]),
        title: pick([
          undefined,
          'Nektar jabuka',
          'NEKTAR JABUKA 2 L',
          'Čaj šumsko voće',
          pick(['Toaletni papir', 'Nektar']),
        ]),
        brand: pick([undefined, 'Bravo', 'BRAVO', 'Bravo', pick(['Zewa', 'Happy Day'])]),
      };
    });
  });
  await rule('attribute', 'availability', 'stock');
  await rule('attribute', 'condition', 'state');
  await insertItems(
    products.flatMap((offers, product) =>
      offers.map((one) => ({
        item_id: one.itemId,
        site_id: one.siteId,
        product_id: `p${product}`,
        price: toDecimal(one.units),
        title: one.title,
        brand: one.brand,
        attributes: JSON.stringify({ stock: one.availability, state: one.condition }),
        currency: 'EUR',
        days_unseen: one.daysUnseen,
      })),
    ),
  );
  const made = await judgeItems();
  const judged = products.map((offers) => judgeSlowly(offers, 'EUR'));
  const expected = new Map(judged.flatMap(({ findings }) => [...findings]));
  const expectedDoubts = new Map(judged.flatMap(({ doubts }) => [...doubts]));
  const list = (value: DuckDBValue | undefined) => (value as DuckDBListValue).items;
  expect(made.map((row) => [Number(row.item_id), list(row.findings), list(row.doubts)])).toEqual(
    [...expected].map(([id, found]) => [id, found, expectedDoubts.get(id) ?? []]),
  );
  expect(made.every((row) => row.is_counted === (list(row.findings).length === 0))).toBe(true);
  const spreads = await db.rows(`SELECT product_id, grade FROM (${readAnalysis('price_spread')})`);
  const grades = judged.flatMap(({ grade: one }, product) => (one === undefined ? [] : [[`p${product}`, one]]));
  expect(spreads.map((row) => [row.product_id, row.grade]).sort()).toEqual(grades.sort());
  // Every finding, doubt and grade occurs.
  expect([...new Set([...expected.values(), ...expectedDoubts.values()].flat())].sort()).toEqual(
    ['brand', 'condition', 'duplicate', 'out_of_stock', 'outlier', 'placeholder', 'scale', 'stale', 'title'].sort(),
  );
  expect([...new Set(grades.map(([, one]) => one))].sort()).toEqual(['A', 'B', 'C']);
});

const toDecimal = (units: bigint) => `${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`;
