/** Compares candidates for matches with a program that checks every pair, and reads the user's decisions back. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { readUserMatches } from '../../src/config/user-matches.js';
import { readAnalysis } from '../../src/sql/model.js';
import { openEmptyTables } from '../check/lake-world.js';
import { seedRandom } from './offer-world.js';

const db = await openEmptyTables();
const folder = await mkdtemp(join(tmpdir(), 'pricelake-candidates-'));
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  for (const table of ['items', 'offers', 'matches', 'user_matches']) await db.run(`DELETE FROM ${table}`);
});

interface Listing {
  id: number;
  product: string;
  site: number;
  title: string;
  brand: string;
  gtin14: string | null;
  /** Millilitres, by a mapped attribute. */
  size: number | null;
  price: number;
}

async function insert(listings: Listing[]): Promise<void> {
  for (const { id, product, site, title, brand, gtin14, size, price } of listings) {
    const values = [BigInt(id), product, BigInt(site), price];
    await db.run(
      `INSERT INTO items (item_id, product_id, site_id, price, title, brand, gtin14, currency, is_listed)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 'EUR', true)`,
      [...values, title, brand, gtin14],
    );
    await db.run(
      `INSERT INTO offers (item_id, product_id, site_id, price, currency, is_counted, quantity, unit)
       VALUES ($1, $2, $3, $4, 'EUR', true, $5, 'l')`,
      [...values, size === null ? null : size / 1000],
    );
  }
}

const find = async (top = 1000) => {
  await db.run(`SET VARIABLE top = ${top}`);
  return db.rows(readAnalysis('match_candidates'));
};

const POOL = ['Šampon', 'sampon', 'lavanda', 'ruža', 'ROZE', 'extra', 'meki', '30', '50'];

function makeListings(seed: number): Listing[] {
  const random = seedRandom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const products = Array.from({ length: 20 }, (_, n) => ({
    product: `p-${String(n).padStart(2, '0')}`,
    brand: pick(['Acme', 'Bravo']),
    gtin14: random() < 0.5 ? '04006381333931' : null,
    size: pick([250, 500]),
    words: Array.from({ length: 3 }, () => pick(POOL)),
  }));
  return products.flatMap(({ words, ...product }, n) =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, (_, k) => ({
      ...{ ...product, id: 10 * n + k, site: Math.floor(random() * 6), price: 10 },
      title: [pick([product.brand, '']), ...words.slice(k % 2), pick(['0,25 L', '']), pick(['Akcija', ''])].join(' '),
    })),
  );
}

/** product → its words, by half of its listings. */
function findWords(listings: Listing[], product: string): Set<string> {
  const own = listings.filter((one) => one.product === product);
  const counts = new Map<string, number>();
  for (const { title, brand } of own) {
    const plain = title.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().replace('0,25 l', '0.25');
    const words = plain.split(' ').filter((word) => word !== '' && word !== brand.toLowerCase());
    for (const word of new Set(words.map((one) => one.slice(0, 4)))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => 2 * count >= own.length).map(([word]) => word));
}

function comparePairs(listings: Listing[]): string[] {
  const products = [...new Set(listings.map(({ product }) => product))].sort();
  return products.flatMap((product, n) =>
    products.slice(n + 1).flatMap((other) => {
      const [one, two] = [product, other].map((id) => listings.filter((listing) => listing.product === id));
      const [first, second] = [one?.[0] as Listing, two?.[0] as Listing];
      const [words, others] = [findWords(listings, product), findWords(listings, other)];
      const shared = [...words].filter((word) => others.has(word)).length;
      const similarity = shared / (words.size + others.size - shared);
      if (first.brand !== second.brand || first.size !== second.size || shared === 0 || similarity < 0.5) return [];
      const sites = new Set(one?.map(({ site }) => site));
      const both = new Set(two?.map(({ site }) => site).filter((site) => sites.has(site))).size;
      const hasTwo = first.gtin14 !== null && second.gtin14 !== null;
      return [`${product} ${other} ${similarity.toFixed(6)} ${hasTwo ? 'two GTINs' : ''} ${both}`];
    }),
  );
}

test.each([1, 2, 3, 4, 5])(
  'the candidates in the world of seed %i are all pairs with one brand and quantity that share half of their words',
  async (seed) => {
    const listings = makeListings(seed);
    await insert(listings);
    const found = (await find()).map((row) => {
      const against = String(row.against ?? '');
      const both = /sold side by side in (\d+)/u.exec(against)?.[1] ?? '0';
      const two = against.includes('two GTINs') ? 'two GTINs' : '';
      return `${row.product} ${row.other} ${(row.similarity as number).toFixed(6)} ${two} ${both}`;
    });
    expect(found.length).toBeGreaterThan(0);
    expect(found.sort()).toEqual(comparePairs(listings).sort());
  },
);

const PEN = { brand: 'Acme', gtin14: null, size: 500, price: 10 };

test('the likeliest pair comes first, with the evidence for and against it', async () => {
  await insert([
    { ...PEN, id: 1, product: 'a-1', site: 1, title: 'Acme ink red 30' },
    { ...PEN, id: 2, product: 'b-1', site: 1, title: 'Acme ink red 50', price: 20 },
    { ...PEN, id: 3, product: 'c-1', site: 2, title: 'Ink red 30', price: 11 },
  ]);
  const rows = (await find(2)).map((row) => [row.product, row.other, row.match, row.for, row.against]);
  expect(rows).toEqual([
    ['a-1', 'c-1', null, 'brand Acme; 0.5 l; words: 30 ink red; prices 10 % apart', null],
    [
      ...['b-1', 'c-1', null, 'brand Acme; 0.5 l; words: ink red'],
      'other numbers; prices differ by a factor of 1.8; only the first: 50; only the other: 30',
    ],
  ]);
});

test('quantities distinguish products only if attributes are mapped; numbers in titles count as words', async () => {
  await insert([
    { ...PEN, id: 1, product: 'a-1', site: 1, title: 'Ink red 500 ml' },
    { ...PEN, id: 2, product: 'b-1', site: 2, title: 'Ink red 500ml', size: 250 },
    { ...PEN, id: 3, product: 'c-1', site: 3, title: 'Ink red 0,5 l', size: null },
  ]);
  expect((await find()).map((row) => [row.product, row.other, row.for, row.against])).toEqual([
    [
      'a-1',
      'c-1',
      'brand Acme; words: ink red; prices 0 % apart',
      'other numbers; only the first: 500; only the other: 0.5',
    ],
    [
      'b-1',
      'c-1',
      'brand Acme; words: ink red; prices 0 % apart',
      'other numbers; only the first: 500; only the other: 0.5',
    ],
  ]);
});

test('a word that more than 30 products of a brand share yields no candidates', async () => {
  await insert(
    Array.from({ length: 32 }, (_, n) => ({
      ...PEN,
      id: n,
      product: `a-${n}`,
      site: n,
      title: n < 31 ? 'Ink' : 'Pen',
    })),
  );
  expect(await find()).toEqual([]);
  await db.run('DELETE FROM items WHERE item_id = 0');
  expect(await find()).toHaveLength((30 * 29) / 2);
});

test('decisions are read back as written, and decided pairs are no longer candidates', async () => {
  const titles = ['Ink, "deep" red', 'Ink deep red', 'Ink deep red'];
  await insert(titles.map((title, n) => ({ ...PEN, id: n, product: `a-${n}`, site: n, title })));
  const file = join(folder, 'matches.csv');
  await db.run(`COPY (SELECT * REPLACE (CASE other WHEN 'a-1' THEN 'no' ELSE 'yes' END AS "match")
    FROM (${readAnalysis('match_candidates')}) WHERE product = 'a-0') TO '${file}' (HEADER)`);
  const told = await readUserMatches(file);
  expect(told).toEqual([
    { productId: 'a-2', otherId: 'a-0', isMatch: true },
    { productId: 'a-1', otherId: 'a-0', isMatch: false },
  ]);
  for (const { productId, otherId, isMatch } of told)
    await db.run("INSERT INTO user_matches VALUES ($1, $2, $3, 'r1')", [productId, otherId, isMatch]);
  await db.run("INSERT INTO matches VALUES ('a-2', 'a-0', 'user', NULL, NULL, 'r1')");
  expect(await find()).toEqual([]);
  await writeFile(file, 'product,other,match\n');
  expect(await readUserMatches(file)).toEqual([]);
});
