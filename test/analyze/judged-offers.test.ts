import { DuckDBDecimalValue, type DuckDBListValue, type DuckDBValue } from '@duckdb/node-api';
import { afterAll, describe, expect, it, test } from 'vitest';
import { readAnalysis } from '../../src/sql/model.js';
import { insertRows, openEmptyTables } from '../check/lake-world.js';
import { seedRandom } from './offer-world.js';
import { type JudgedOffer, judgeSlowly } from './slow-judge.js';

const db = await openEmptyTables();
await insertRows(db, 'sites', [{ attribution: "'CC BY 4.0'" }]);
afterAll(() => db.close());

interface Listing {
  price: string;
  site?: number;
  before?: string;
  title?: string;
  attributes?: Record<string, unknown>;
  currency?: string;
  brand?: string | undefined;
  daysUnseen?: number;
}

/** Listed items in place of those that were there, each of a source that was not seen for `days_unseen` days. */
async function insertItems(rows: Record<string, unknown>[]): Promise<void> {
  await db.run('DELETE FROM items');
  await db.run(
    `INSERT INTO items BY NAME
     SELECT * EXCLUDE (days_unseen), item_id AS source_id, true AS is_listed,
       TIMESTAMPTZ '2026-11-20 12:00:00Z' - INTERVAL 1 DAY * days_unseen AS last_seen_at
     FROM (SELECT unnest(from_json($1, '[{"item_id":"BIGINT","site_id":"BIGINT","product_id":"VARCHAR",
       "price":"VARCHAR","previous_price":"VARCHAR","title":"VARCHAR","brand":"VARCHAR","attributes":"VARCHAR","currency":"VARCHAR",
       "days_unseen":"INTEGER"}]'), recursive := true))`,
    [JSON.stringify(rows)],
  );
  await db.run('DELETE FROM sources');
  await db.run(
    `INSERT INTO sources BY NAME SELECT site_id, source_id, last_seen_at,
      last_seen_at < TIMESTAMPTZ '2026-11-06 12:00:00Z' AS is_stale FROM items`,
  );
}

/** What is found about the listings of one product, each of a shop of its own where none is named. */
async function judge(...listings: Listing[]): Promise<Record<string, DuckDBValue>[]> {
  await insertItems(
    listings.map((one, index) => ({
      item_id: index + 1,
      site_id: one.site ?? index + 1,
      product_id: 'p',
      price: one.price,
      previous_price: one.before,
      title: one.title,
      brand: one.brand,
      attributes: one.attributes === undefined ? undefined : JSON.stringify(one.attributes),
      currency: one.currency ?? 'EUR',
      days_unseen: one.daysUnseen ?? 0,
    })),
  );
  return judgeItems();
}

/** What is found about the items that are there. */
async function judgeItems(): Promise<Record<string, DuckDBValue>[]> {
  await db.run(`CREATE OR REPLACE TABLE offers AS ${readAnalysis('judged_offers')}`);
  return db.rows('SELECT * FROM offers ORDER BY item_id');
}

/** What is found about each listing; a dash where that is nothing. */
const findings = async (...listings: Listing[]) =>
  (await judge(...listings)).map((row) => (row.findings as DuckDBListValue).items.join(' ') || '-').join(', ');
const reasons = async (...listings: Listing[]) => (await judge(...listings)).map(({ reason }) => reason);
const priced = (...prices: string[]): Listing[] => prices.map((price) => ({ price }));

/** Of price_spread, over the offers that were judged last. */
async function grade(): Promise<string> {
  const row = await db.row(`SELECT grade || ' ' || grade_reason AS text FROM (${readAnalysis('price_spread')})`);
  return String(row?.text);
}

const grams = (quantity: number): Listing => ({ price: '4', attributes: { quantity, unit: 'g' } });
const TEA = { price: '2.10', attributes: { quantity: 40, unit: 'g' } };
const MIDDLE = priced('4', '4', '4', '4');
const SCALE_OF_THREE = 'C 3 shops that differ by a factor near 10, 100 or 1,000; left out: scale';

test.each<[string, Listing[], string, string?]>([
  ['two shops that disagree', priced('0.86', '124.00'), 'scale, scale', 'C no trusted shop of 2; left out: scale'],
  ['one of three shops off by a scale', priced('1.56', '1.64', '194.00'), '-, -, scale', SCALE_OF_THREE],
  ['prices that are a power of ten apart each', priced('1.10', '10.20', '101'), 'scale, scale, scale'],
  ['a price that was put right', [{ price: '4.99', before: '499' }, { price: '5.20' }], '-, -'],
  ['a quarter from the middle, however equal the others', [...MIDDLE, ...priced('4', '3', '5')], '-, -, -, -, -, -, -'],
  ['exactly half and twice the middle', [...MIDDLE, ...priced('2', '8')], '-, -, -, -, -, -'],
  ['a unit more than that', [...MIDDLE, ...priced('1.9999', '8.0001')], '-, -, -, -, outlier, outlier'],
  ['both', [...MIDDLE, ...priced('4', '4', '2', '8', '1.80', '8.0001')], '-, -, -, -, -, -, -, -, outlier, outlier'],
  [
    'a low price that another shop has within 5 %',
    [...MIDDLE, ...priced('4', '4', '1.90', '1.81', '1.70')],
    '-, -, -, -, -, -, -, -, outlier',
  ],
  [
    'a high price that another shop has',
    [...MIDDLE, ...priced('4', '4', '8.10', '8.10')],
    '-, -, -, -, -, -, outlier, outlier',
  ],
  ['wide scatter', priced('1', '2', '3', '5', '8'), '-, -, -, -, -'],
  ['packs of 5 % more or less, and of more', [1000, 1000, 1050, 950, 1051, 949].map(grams), '-, -, -, -, pack, pack'],
  ['the same pack in other units', [TEA, { price: '2.20', attributes: { quantity: 0.04, unit: 'kg' } }], '-, -'],
  [
    'pieces beside a weight',
    [
      { price: '2.10', title: 'Tea 20 pcs' },
      { price: '2.20', title: 'Tea 40 g' },
    ],
    '-, -',
  ],
  [
    'a shop that lists the product more than once: its lowest price counts',
    [...priced('5', '4', '4').map((one) => ({ ...one, site: 1 })), { price: '4.50' }],
    'duplicate, -, duplicate, -',
    'B 2 shops; left out: duplicate',
  ],
  [
    'a shop whose cheaper listing has a wrong price',
    [{ price: '0.05', site: 1 }, { price: '5', site: 1 }, ...priced('5.10', '5.20', '4.90')],
    'scale, -, -, -, -',
  ],
  [
    'prices that fill a field',
    priced('0', '0.01', '9999', '12345', '12.50'),
    'placeholder, placeholder, placeholder, placeholder, -',
  ],
  ['9,999 forints, which may be a price', priced('9999', '10490'), '-, -'],
])('of %s is found what is wrong, and no more', async (_what, listings, found, expected) => {
  expect(await findings(...listings)).toBe(found);
  if (expected !== undefined) expect(await grade()).toBe(expected);
});

describe('a price that is wrong by a factor of ten, a hundred or a thousand', () => {
  it('is found among others, and the others stay', async () => {
    // Chio Čipi Čips Paprika XXL 0.210 kg
    const chips = priced('17.86', '18.35', '18.99', '19.25', '19.40', '170.10', '1843.00');
    expect(await reasons(...chips)).toEqual([
      null,
      null,
      null,
      null,
      null,
      '8.9 times the price of other shops',
      '96.4 times the price of other shops',
    ]);
    expect(await grade()).toBe('B 5 shops; left out: scale');
  });

  it('is blamed on the one of two shops whose own price jumped', async () => {
    expect(await reasons({ price: '499', before: '4.99' }, { price: '5.20' })).toEqual([
      '96.0 times the price of other shops',
      null,
    ]);
    expect(await reasons({ price: '0.05', before: '4.99' })).toEqual(['its price before was 99.8 times as much']);
    expect(await reasons({ price: '4.99', before: '0.05' })).toEqual(['99.8 times its price before']);
  });

  it.each([
    ['twice', '252.96', '3999.2976'],
    ['half', '63.24', '3999.2976'],
  ])('is told as one between two others that are far apart, also at %s their middle', async (_name, price, high) => {
    const rows = await judge(...priced('4', price, high));
    expect(rows[1]).toMatchObject({ reason: 'between two prices that are 10, 100 or 1,000 times as far apart' });
  });
});

it('an outlier is told by how far it is from the others', async () => {
  expect(await reasons(...priced('4', '4', '4', '4', '10', '1.5'))).toEqual([
    null,
    null,
    null,
    null,
    '2.5 times the price of other shops',
    'other shops ask 2.7 times as much',
  ]);
});

it('the price ratio is to the middle of the other shops, and a price of zero has none', async () => {
  const ratios = async (...prices: string[]) =>
    (await judge(...priced(...prices))).map(({ price_ratio }) => price_ratio && Number(price_ratio).toFixed(4));
  // 4 / √(5 · 6), 5 / √(4 · 6), 6 / √(4 · 5)
  expect(await ratios('4', '5', '6', '0')).toEqual(['0.7303', '1.0206', '1.3416', null]);
  expect(await ratios('4', '5')).toEqual(['0.8000', '1.2500']);
  expect(await ratios('4')).toEqual([null]);
});

describe('the pack', () => {
  it('of another size is found, and its unit price is compared', async () => {
    const rows = await judge(
      { price: '1.20', title: 'Cola 0,5 l' },
      { price: '1.30', attributes: { quantity: 500, unit: 'ml' } },
      { price: '6.00', title: 'Cola 6 x 0.5 l' },
    );
    expect(rows.map(({ reason }) => reason)).toEqual([null, null, '3.0 l, others 0.5 l']);
    expect(rows.map(({ unit_price }) => String(unit_price))).toEqual(['2.4000', '2.6000', '2.0000']);
    const row = await db.row(
      `SELECT trusted_max, unit, unit_min, unit_max, unit_spread_pct FROM (${readAnalysis('price_spread')})`,
    );
    expect(Object.values(row ?? {}).map(String)).toEqual(['1.3000', 'l', '2.0000', '2.6000', '30']);
  });

  it.each([
    ['kg', 'kg'],
    ['l', 'l'],
    ['m', 'm'],
    ['pcs', 'piece'],
  ])('of 20 %s among those of 10 is found', async (unit, code) => {
    const pack = (quantity: number) => ({ price: '4', attributes: { quantity, unit } });
    expect(await reasons(pack(10), pack(10), pack(20))).toEqual([null, null, `20.0 ${code}, others 10.0 ${code}`]);
  });
});

/** Offers of shops of their own with these titles and brands, all at the same price. */
const titled = (...texts: [title: string, brand?: string][]): Listing[] =>
  texts.map(([title, brand]) => ({ price: '4', title, brand }));

describe('words', () => {
  const NECTAR: [string, string?][] = [
    ['Nektar jabuka 2 l', 'Bravo'],
    ['BRAVO NEKT. JABUKA', 'BRAVO'],
  ];

  it.each<[string, Listing[], string]>([
    ['a title that shares no word', titled(...NECTAR, ['Toaletni papir 10/1', 'Bravo']), '- - -'],
    ['a title and brand that share no word', titled(...NECTAR, ['Toaletni papir 10/1', 'Zewa']), '- - title'],
    ['another brand beside the same words', titled(...NECTAR, ['Nektar jabuka 2 l', 'Happy Day']), '- - brand'],
    ['a brand that the others have in their titles', titled(...NECTAR, ['Nektar jabuka', 'Bravo d.o.o.']), '- - -'],
    ['a brand where no other has one', titled(['Nektar', 'Bravo'], ['Nektar jabuka'], ['Nektar']), '- - -'],
    ['two titles that share nothing', titled(['Nektar jabuka'], ['Toaletni papir']), 'title title'],
    ['accents and cases', titled(['ČOKOLADA S LJEŠNJACIMA'], ['cokolada'], ['Čokoladica']), '- - -'],
    ['one listing', titled(['Nektar']), '-'],
    ['titles of units and numbers alone', titled(['500 g'], ['Nektar 500 g'], ['Nektar']), '- - -'],
    ['no titles at all', priced('4', '4'), '- -'],
  ])('of %s are evidence of another product, or none', async (_what, listings, expected) => {
    const rows = await judge(...listings);
    expect(rows.map(({ doubts }) => (doubts as DuckDBListValue).items.join() || '-').join(' ')).toBe(expected);
    expect(rows.every(({ is_counted }) => is_counted)).toBe(true);
  });

  it.each([
    ['Laptop X1 rabljeno', 'used'],
    ['Laptop X1 gebraucht', 'used'],
    ['Laptop X1 (B-Ware)', 'used'],
    ['Laptop X1, second-hand', 'used'],
    ['Laptop X1 - renewed', 'refurbished'],
    ['Laptop X1 reconditionné', 'refurbished'],
    ['Laptop X1 open box', 'opened'],
    ['Laptop X1 otvoreno pakiranje', 'opened'],
    ['Laptop X1 unused', null],
    ['Laptop X1', null],
  ])('of "%s" tell the condition', async (title, condition) => {
    const [, row] = await judge(...titled(['Laptop X1'], [title], ['Laptop X1']));
    expect(row).toMatchObject({ condition, is_counted: condition === null, reason: condition });
  });

  it.each([
    [{ condition: 'https://schema.org/UsedCondition' }, 'used'],
    [{ itemCondition: 'Refurbished' }, 'refurbished'],
    [{ stanje: 'rabljeno' }, 'used'],
    [{ zustand: 'Neu' }, 'new'],
    [{ condition: 'NewCondition' }, 'new'],
    [{ condition: 7 }, null],
  ])('of attribute %j tell it before the title', async (attributes, condition) => {
    const listings = titled(['Laptop X1'], ['Laptop X1'], ['Laptop X1']);
    const [row] = await judge({ ...(listings[0] as Listing), attributes }, ...listings.slice(1));
    expect(row).toMatchObject({ condition, is_counted: condition === null || condition === 'new' });
  });

  it('of used goods alone compare these with each other', async () => {
    expect(await findings(...titled(['Phone used'], ['Phone rabljen'], ['Phone']))).toBe('-, -, condition');
  });

  it.each([
    ['Cheese, price per kg', 'per unit'],
    ['Sir cijena po kg', 'per unit'],
    ['Sir /kg', 'per unit'],
    ['Sir 1 kg', undefined],
    ['Kaution Sir', undefined],
    ['Pfand Sir', 'deposit'],
    ['Sir zu mieten', 'rental'],
  ])('of "%s" tell what the price is for', async (title, terms) => {
    const found = await judge(...titled(['Sir i cheese'], [title], ['Sir i cheese']));
    expect(found[1]?.reason ?? undefined).toBe(title.startsWith('Kaution') ? 'deposit' : terms);
  });

  it('of a set are evidence where the price is higher, too', async () => {
    const set = { price: '8', title: 'Glas 3er Set' };
    const [first] = await judge(set, ...titled(['Glas'], ['Glas']));
    expect(first).toMatchObject({ is_counted: true, reason: 'may be several pieces' });
    expect(await reasons({ ...set, price: '5' }, ...titled(['Glas'], ['Glas']))).toEqual([null, null, null]);
  });
});

describe('a price', () => {
  const pack = (price: string, quantity = 250): Listing => ({ price, attributes: { quantity, unit: 'g' } });

  it('that others ask for a kilogram is doubted, and no other', async () => {
    const doubts = async (...listings: Listing[]) =>
      (await judge(...listings)).map((row) => (row.doubts as DuckDBListValue).items.join());
    expect(await doubts(pack('4'), pack('4.10'), pack('16'))).toEqual(['', '', 'unit_price']);
    expect(await doubts(pack('4'), pack('4.10'), pack('14'))).toEqual(['', '', '']);
    expect(await doubts(pack('4', 900), pack('4.10', 900), pack('4.50', 900))).toEqual(['', '', '']);
  });

  it('of one piece beside the name of the trade case counts, without a unit price', async () => {
    const titles = [['Cola 1 l'], ['Cola 1 l'], ['Cola 12x1l']] as [string][];
    const rows = await judge(...titled(...titles));
    expect(rows.map(({ is_counted }) => is_counted)).toEqual([true, true, true]);
    expect(rows.map(({ unit_price }) => unit_price && String(unit_price))).toEqual(['4.0000', '4.0000', null]);
    expect(await findings(...titled(...titles.slice(0, 2)), { price: '40', title: 'Cola 12x1l' })).toBe('-, -, pack');
  });
});

describe('an offer', () => {
  it('is stale if its source is, by the last day on which that was seen', async () => {
    expect(await reasons({ price: '4', daysUnseen: 14 }, { price: '5', daysUnseen: 15 })).toEqual([
      null,
      'its source was last seen on 2026-11-05',
    ]);
  });

  it('in a currency that its shop does not sell in is found', async () => {
    await db.run("INSERT INTO shop_currencies VALUES (1, 'HUF', 'r1'), (2, 'EUR', 'r1')");
    expect(await reasons({ price: '1290' }, { price: '3.20' })).toEqual(['the shop sells in HUF', null]);
    await db.run('DELETE FROM shop_currencies');
  });

  it('without a source, or of one that is not known, is not stale', async () => {
    for (const source of ['NULL', '99']) {
      await judge({ price: '4', daysUnseen: 15 });
      await db.run(`UPDATE items SET source_id = ${source}`);
      expect(await judgeItems()).toMatchObject([{ is_counted: true, reason: null }]);
    }
  });

  it('with nothing to compare it with counts, also at a price that may fill a field', async () => {
    expect(await judge({ price: '9999' })).toMatchObject([{ is_counted: true, reason: null }]);
    expect(await judge({ price: '5', before: '0' })).toMatchObject([{ is_counted: true, reason: null }]);
  });

  it.each(['price = NULL', 'product_id = NULL', 'currency = NULL', 'is_listed = false'])(
    'with %s is none',
    async (value) => {
      await judge({ price: '4' });
      await db.run(`UPDATE items SET ${value}`);
      expect(await judgeItems()).toEqual([]);
    },
  );
});

it('what is found of random products equals what loops over their offers find', async () => {
  const random = seedRandom(5);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const products = Array.from({ length: 400 }, (_, product) => {
    const level = Math.floor(500 + random() * 400_000);
    return Array.from({ length: 1 + Math.floor(random() * 8) }, (_, nth): JudgedOffer => {
      const scatter = Math.max(
        1,
        Math.round(level * (0.7 + 0.6 * random()) * pick([1, 1, 1, 1, 1, 10, 100, 0.1, 2.7])),
      );
      return {
        itemId: product * 10 + nth,
        siteId: Math.floor(random() * 7) + 1,
        units: pick(
          [
            BigInt(scatter),
            BigInt(scatter),
            BigInt(scatter),
            BigInt(level),
            BigInt(level),
            0n,
            100n,
            99_990_000n,
            10_000n,
          ].slice(0, pick([5, 9])),
        ),
        unitsBefore: pick([undefined, undefined, BigInt(level), BigInt(level) * 100n]),
        daysUnseen: pick([0, 0, 0, 14, 15, 40]),
        usualCurrency: 'EUR',
        pack: pick([
          undefined,
          undefined,
          { unit: 'kg', millionths: 500_000 },
          { unit: 'kg', millionths: 520_000 },
          { unit: 'l', millionths: 500_000 },
          { unit: 'piece', millionths: 1_000_000 },
          { unit: 'piece', millionths: 6_000_000 },
        ]),
      };
    });
  });
  await insertItems(
    products.flatMap((offers, product) =>
      offers.map((one) => ({
        item_id: one.itemId,
        site_id: one.siteId,
        product_id: `p${product}`,
        price: toDecimal(one.units),
        previous_price: one.unitsBefore === undefined ? undefined : toDecimal(one.unitsBefore),
        attributes: describePack(one),
        currency: 'EUR',
        days_unseen: one.daysUnseen,
      })),
    ),
  );
  const made = await db.rows(
    `SELECT item_id, findings, is_counted, unit_price FROM (${readAnalysis('judged_offers')}) ORDER BY item_id`,
  );
  const offers = products.flat();
  const expected = new Map(products.flatMap((one) => [...judgeSlowly(one, 'EUR')]));
  expect(made.map((row) => [Number(row.item_id), (row.findings as DuckDBListValue).items])).toEqual(
    offers.map(({ itemId }) => [itemId, expected.get(itemId)]),
  );
  expect(made.map(({ is_counted }) => is_counted)).toEqual(
    offers.map(({ itemId }) => expected.get(itemId)?.length === 0),
  );
  expect(made.map(({ unit_price }) => (unit_price instanceof DuckDBDecimalValue ? unit_price.value : null))).toEqual(
    offers.map(({ pack, units }) =>
      pack === undefined || units === 0n ? null : divide(units * 1_000_000n, BigInt(pack.millionths)),
    ),
  );
  const seen = new Set([...expected.values()].map(String));
  expect([...seen].filter((one) => !one.includes(',')).sort()).toEqual([
    '',
    'duplicate',
    'outlier',
    'pack',
    'placeholder',
    'scale',
    'stale',
  ]);
});

const describePack = ({ pack }: JudgedOffer) =>
  pack && JSON.stringify({ quantity: pack.millionths / 1e6, unit: pack.unit === 'piece' ? 'pcs' : pack.unit });
const toDecimal = (units: bigint) => `${units / 10_000n}.${String(units % 10_000n).padStart(4, '0')}`;
/** Half away from zero. */
const divide = (a: bigint, b: bigint) => (2n * a + b) / (2n * b);
