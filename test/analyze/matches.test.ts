/** Table `matches` and spreads by match, against a program that knows the rules and no SQL. */
import { afterAll, describe, expect, test } from 'vitest';
import { keyByMatch } from '../../src/analyze/matched-views.js';
import { Database } from '../../src/sql/connection.js';
import { createTable, derivedSelects, insertCredits } from '../check/lake-world.js';
import { seedRandom } from './offer-world.js';

interface Listing {
  itemId: bigint;
  siteId: bigint;
  gtin: string | null;
  brand: string | null;
  mpn: string | null;
  price: string;
  isListed: boolean;
}

const CODES = ['4006381333931', '04006381333931', '5901234123457', '96385074', '4006381333932', '000'];
const BRANDS = ['Acme', 'ACME®', 'Ac me', 'Björk', null, '!!'];
const NUMBERS = ['R-1', 'r 1', 'R2', 'X/9', 'n/a', '000', null];

const dbs: Database[] = [];
afterAll(() => Promise.all(dbs.map((db) => db.close())));

function makeListings(seed: number): Listing[] {
  const random = seedRandom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  return Array.from({ length: 60 }, (_, n) => ({
    itemId: 2n ** 53n + BigInt(n * 3),
    siteId: BigInt(1 + Math.floor(random() * 5)),
    gtin: random() < 0.55 ? null : pick(CODES),
    brand: pick(BRANDS),
    mpn: pick(NUMBERS),
    price: (1 + Math.floor(random() * 30) / 10).toFixed(2),
    isListed: random() < 0.9,
  }));
}

/** Product of the API document: a GTIN's digits without leading zeros, else brand and part number. */
function findProduct({ gtin, ...codes }: Listing): string | null {
  return gtin?.replace(/^0+/u, '') || findKey(codes);
}

function findKey({ brand, mpn }: Pick<Listing, 'brand' | 'mpn'>): string | null {
  const [one, two] = [brand, mpn].map((text) => (text ?? '').toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''));
  return one && two ? `${one}-${two}` : null;
}

function isGtin(code: string | null): boolean {
  if (code === null || !/^(\d{8}|\d{12,14})$/u.test(code)) return false;
  const sum = [...code].reverse().reduce((total, digit, place) => total + Number(digit) * (place % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0 && Number(code) > 0;
}

/** product → [match, lowest item, shops] of each product that one GTIN alone is known of. */
function findBridges(listings: Listing[]): Map<string, [string, bigint, number]> {
  const bridges = new Map<string, [string, bigint, number]>();
  for (const product of new Set(listings.map(findProduct))) {
    if (product === null || !product.includes('-')) continue;
    const both = listings.filter((one) => findKey(one) === product && isGtin(one.gtin) && /[1-9]/u.test(one.mpn ?? ''));
    const gtins = [...new Set(both.map(findProduct))];
    if (gtins.length !== 1) continue;
    const ids = both.map(({ itemId }) => itemId).sort((a, b) => (a < b ? -1 : 1));
    bridges.set(product, [gtins[0] as string, ids[0] as bigint, new Set(both.map(({ siteId }) => siteId)).size]);
  }
  return bridges;
}

/** A session with the items and their derived tables; `map` gives the product of each. */
async function openTables(listings: Listing[], map = findProduct): Promise<Database> {
  const db = await Database.open();
  dbs.push(db);
  for (const table of ['sites', 'sources', 'offer_rules'] as const) await createTable(db, table);
  await insertCredits(db);
  // Views, as commands have them.
  await createTable(db, 'items', 'items_rows');
  await db.run('CREATE VIEW items AS FROM items_rows');
  for (const one of listings) {
    await db.run(
      `INSERT INTO items_rows (item_id, site_id, product_id, gtin, gtin14, brand, mpn, price, currency, is_listed, title, first_seen_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8::DECIMAL(18, 4), 'EUR', $9, 'Pen ' || $1, '2026-01-01')`,
      [
        ...[
          one.itemId,
          one.siteId,
          map(one),
          one.gtin,
          isGtin(one.gtin) ? (one.gtin?.padStart(14, '0') ?? null) : null,
        ],
        ...[one.brand, one.mpn, one.price, one.isListed],
      ],
    );
  }
  for (const { table, select } of derivedSelects()) {
    await db.run(`CREATE TABLE ${table}_rows AS ${select}`);
    await db.run(`CREATE VIEW ${table} AS FROM ${table}_rows`);
  }
  return db;
}

const list = async (db: Database, sql: string) =>
  (await db.rows(sql)).map((row) => Object.values(row).map(String).join(' | '));

const SEEDS = [1, 2, 3, 4];

describe.each(SEEDS)('in the world of seed %i', (seed) => {
  const listings = makeListings(seed);

  test('a product of brand and part number joins the one GTIN that offers have with them', async () => {
    const db = await openTables(listings);
    const expected = [...findBridges(listings)].map(([product, [match, itemId, shops]]) =>
      [product, match, 'bridge', itemId, shops, 'r1'].join(' | '),
    );
    expect(await list(db, 'FROM matches')).toHaveLength(expected.length);
    expect((await list(db, 'FROM matches')).sort()).toEqual(expected.sort());
  });

  test('by match, tables are as if the products were one', async () => {
    const bridges = findBridges(listings);
    const joined = await openTables(listings);
    await keyByMatch(joined);
    const one = await openTables(listings, (listing) => {
      const product = findProduct(listing);
      return bridges.get(product ?? '')?.[0] ?? product;
    });
    for (const table of ['offers', 'products', 'product_prices', 'price_spread']) {
      const rows = (db: Database) => list(db, `SELECT * EXCLUDE (run_id) FROM ${table} ORDER BY ALL`);
      expect(await rows(joined), table).toEqual(await rows(one));
    }
  });
});

test('worlds have what is joined and what is left alone', () => {
  const bridges = SEEDS.map((seed) => findBridges(makeListings(seed)).size);
  expect(bridges.reduce((sum, count) => sum + count)).toBeGreaterThan(3);
});
