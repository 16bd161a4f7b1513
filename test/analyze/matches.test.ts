/** Compares the table `matches` and spreads by match with a program that implements the rules without SQL. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { keyByMatch } from '../../src/analyze/matched-views.js';
import type { UserMatch } from '../../src/config/pipeline.js';
import { readUserMatches } from '../../src/config/user-matches.js';
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

/** The user's decisions: pairs that match, and pairs that don't. */
interface Told {
  yes: [string, string][];
  no: [string, string][];
}

/** The products that chains of matches lead to from one. */
function reach(product: string, { yes }: Told): Set<string> {
  const reached = new Set([product]);
  for (let size = 0; size < reached.size; ) {
    size = reached.size;
    for (const pair of yes) if (pair.some((one) => reached.has(one))) for (const one of pair) reached.add(one);
  }
  return reached;
}

/** The representative of a group is its GTIN, or else the alphabetically first id. */
const findHead = (group: Set<string>) =>
  [...group].sort((a, b) => Number(a.includes('-')) - Number(b.includes('-')) || (a < b ? -1 : 1))[0] as string;

/** product → [match, evidence, lowest item, shops] of each product that belongs to another. */
function findMatches(listings: Listing[], told: Told): Map<string, [string, string, bigint | null, number | null]> {
  const products = new Set(listings.map(findProduct).filter((one) => one !== null));
  const head = (product: string) => findHead(reach(product, told));
  const isApart = (one: string, two: string) =>
    told.no.some((pair) => [pair, [...pair].reverse()].some(([a = '', b = '']) => head(a) === one && head(b) === two));
  const found = new Map<string, [string, bigint, number]>();
  for (const group of new Set([...products].map(head))) {
    if (!group.includes('-')) continue;
    const keys = [...reach(group, told)].filter((one) => products.has(one));
    const both = listings.filter(
      (one) => keys.includes(findKey(one) ?? '') && isGtin(one.gtin) && /[1-9]/u.test(one.mpn ?? ''),
    );
    const leads = both
      .map((one) => ({ ...one, to: head(findProduct(one) as string) }))
      .filter(({ to }) => !isApart(group, to));
    const [first] = leads;
    if (first === undefined || leads.some(({ to }) => to !== first.to)) continue;
    const ids = leads.map(({ itemId }) => itemId).sort((a, b) => (a < b ? -1 : 1));
    found.set(group, [first.to, ids[0] as bigint, new Set(leads.map(({ siteId }) => siteId)).size]);
  }
  const isClashing = (group: string) =>
    [...found].some(([other, [to]]) => to === found.get(group)?.[0] && isApart(group, other));
  const matches = new Map<string, [string, string, bigint | null, number | null]>();
  for (const [group, [to, itemId, shops]] of found)
    if (!isClashing(group)) matches.set(group, [to, 'bridge', itemId, shops]);
  for (const product of new Set(told.yes.flat())) {
    const group = head(product);
    if (product !== group) matches.set(product, [matches.get(group)?.[0] ?? group, 'user', null, null]);
  }
  return matches;
}

/** Draws random pairs that don't contradict each other. */
function tell(seed: number, listings: Listing[]): Told {
  const random = seedRandom(seed + 1000);
  const products = [...new Set(listings.map(findProduct).filter((one) => one !== null))];
  const pick = () => products[Math.floor(random() * products.length)] as string;
  const told: Told = { yes: [], no: [] };
  for (let n = 0; n < 5; n++) {
    const [one, two] = [pick(), pick()];
    const isSame = reach(one, told).has(two);
    if (!isSame && random() < 0.5) told.no.push([one, two]);
    else if (one !== two) {
      told.yes.push([one, two]);
      if (told.no.some(([a, b]) => reach(a, told).has(b))) told.yes.pop();
    }
  }
  return told;
}

/** By the file, as a user writes it. */
async function readTold({ yes, no }: Told): Promise<UserMatch[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pricelake-matches-'));
  const file = join(folder, 'matches.csv');
  const lines = [...yes.map((pair) => [...pair, 'yes']), ...no.map((pair) => [...pair, 'no'])].map((one) => one.join());
  await writeFile(file, ['product,other,match', ...lines].join('\n'));
  const rows = await readUserMatches(file);
  await rm(folder, { recursive: true });
  return rows;
}

/** A session with the items and their derived tables; `map` gives the product of each. */
async function openTables(listings: Listing[], told: Told, map = findProduct): Promise<Database> {
  const db = await Database.open();
  dbs.push(db);
  for (const table of ['sites', 'sources', 'offer_rules', 'user_matches'] as const) await createTable(db, table);
  for (const { productId, otherId, isMatch } of await readTold(told))
    await db.run("INSERT INTO user_matches VALUES ($1, $2, $3, 'r1')", [productId, otherId, isMatch]);
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

const NOTHING: Told = { yes: [], no: [] };

describe.each(SEEDS)('in the world of seed %i', (seed) => {
  const listings = makeListings(seed);

  test.each([NOTHING, tell(seed, listings), tell(seed + 50, listings)])(
    "a product belongs to the match to which its offers and the user's decisions lead: %j",
    async (told) => {
      const db = await openTables(listings, told);
      const expected = [...findMatches(listings, told)].map(([product, match]) =>
        [product, ...match, 'r1'].join(' | '),
      );
      const actual = await list(
        db,
        "SELECT * REPLACE (coalesce(item_id::VARCHAR, '') AS item_id, coalesce(shops::VARCHAR, '') AS shops) FROM matches",
      );
      expect(actual.sort()).toEqual(expected.sort());
    },
  );

  test('tables keyed by match equal those of a world in which the matched products are one', async () => {
    const told = tell(seed, listings);
    const matches = findMatches(listings, told);
    const joined = await openTables(listings, told);
    await keyByMatch(joined);
    const one = await openTables(listings, NOTHING, (listing) => {
      const product = findProduct(listing);
      return matches.get(product ?? '')?.[0] ?? product;
    });
    for (const table of ['offers', 'products', 'product_prices', 'price_spread']) {
      const rows = (db: Database) => list(db, `SELECT * EXCLUDE (run_id) FROM ${table} ORDER BY ALL`);
      expect(await rows(joined), table).toEqual(await rows(one));
    }
  });
});

test('the generated worlds contain matches by bridges and by the user', () => {
  const kinds = SEEDS.flatMap((seed) => {
    const listings = makeListings(seed);
    return [NOTHING, tell(seed, listings)].flatMap((told) => [...findMatches(listings, told).values()]);
  }).map(([, evidence]) => evidence);
  expect(kinds.filter((kind) => kind === 'bridge').length).toBeGreaterThan(5);
  expect(kinds.filter((kind) => kind === 'user').length).toBeGreaterThan(3);
});

/** Two part numbers of one GTIN; offers without it have either. */
const PARTED: Listing[] = ['R-1', 'X/9'].flatMap((mpn, n) =>
  ['4006381333931', null].map((gtin, site) => ({
    ...{ itemId: BigInt(10 * n + site), siteId: BigInt(site), gtin, brand: 'Acme', mpn, price: '1.00', isListed: true },
  })),
);
const BOTH = ['acme-r1 4006381333931 bridge', 'acme-x9 4006381333931 bridge'];

test.each<[what: string, told: Told, matches: string[]]>([
  ['nothing told', NOTHING, BOTH],
  ['one kept apart from the GTIN', { yes: [], no: [['4006381333931', 'acme-r1']] }, BOTH.slice(1)],
  ['both kept apart', { yes: [], no: [['acme-x9', 'acme-r1']] }, []],
  [
    'both kept apart, and one told',
    { yes: [['acme-x9', '4006381333931']], no: [['acme-x9', 'acme-r1']] },
    ['acme-x9 4006381333931 user'],
  ],
  [
    'both joined',
    { yes: [['acme-x9', 'acme-r1']], no: [] },
    ['acme-r1 4006381333931 bridge', 'acme-x9 4006381333931 user'],
  ],
  [
    'both joined, and one kept apart from the GTIN',
    { yes: [['acme-x9', 'acme-r1']], no: [['acme-x9', '4006381333931']] },
    ['acme-x9 acme-r1 user'],
  ],
  [
    'one joined to another GTIN',
    { yes: [['acme-x9', '96385074']], no: [] },
    ['acme-r1 4006381333931 bridge', 'acme-x9 96385074 user'],
  ],
])('with %s, products that share one GTIN get the matches %j', async (_, told, matches) => {
  const db = await openTables(PARTED, told);
  expect((await list(db, "SELECT concat_ws(' ', product_id, match_id, evidence) FROM matches")).sort()).toEqual(
    matches,
  );
  expect(findMatches(PARTED, told).size).toBe(matches.length);
});
