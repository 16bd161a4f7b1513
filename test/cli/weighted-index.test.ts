import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { publishLake } from './lake-fixture.js';
import { runHere } from './pricelake.js';

/** Prices of January and, since the 1st of February, of February and March. */
const listing = (id: number, category: string, before: string, price: string, site = '1') => ({
  ...{
    item_id: String(id),
    site_id: site,
    product_id: `'p${id}'`,
    gtin: 'NULL',
    gtin14: 'NULL',
    price,
    previous_price: before,
  },
  ...{ category_slug: `'${category}'`, category_name: `'${category}'`, category_path: `'Food > ${category}'` },
  ...{ price_changed_at: "TIMESTAMPTZ '2026-02-01 00:00:00Z'", last_seen_at: "TIMESTAMPTZ '2026-03-31 12:00:00Z'" },
});
const lake = await publishLake([
  listing(1, 'tea', '10', '12'),
  listing(2, 'coffee', '10', '11', '2'),
  listing(3, 'cups', '20', '10', '2'),
]);
const folder = dirname(lake);
afterAll(() => rm(folder, { recursive: true }));

async function ask(weights: string, { tree, set = [] }: { tree?: string; set?: string[] } = {}) {
  const file = join(folder, 'weights.csv');
  await writeFile(file, weights);
  const more = tree === undefined ? [] : ['--tree', join(folder, 'tree.csv')];
  if (tree !== undefined) await writeFile(join(folder, 'tree.csv'), tree);
  const variables = ['currency=EUR', 'until=2026-03-31', 'since=2026-01-01', ...set].flatMap((one) => ['--set', one]);
  return runHere([
    ...['query', '--lake', lake, '--analysis', 'weighted_index', '--weights', file, ...more, '--json', ...variables],
  ]);
}

type Figures = Record<string, number | string | null>;
async function rows(...asked: Parameters<typeof ask>): Promise<Figures[]> {
  const { stdout, stderr } = await ask(...asked);
  expect(stderr).toBe('');
  return JSON.parse(stdout).rows;
}
const figures = (found: Figures[], ...names: string[]) =>
  found.map((row) =>
    names.map((name) => (typeof row[name] === 'number' ? Math.round(Number(row[name]) * 1e6) / 1e6 : row[name])),
  );

const FOOD = 'category,weight\ntea,300\ncoffee,100\n';

test('weights by category yield indices of categories and of their ancestors in a tree', async () => {
  const tree = 'child,parent\ntea,01.2.1\ncoffee,01.2.1\ncups,05.4\n01.2.1,01.2\n01.2,01\n05.4,05\n';
  const found = await rows('category,weight\ntea,300\ncoffee,100\ncups,100\n', { tree });
  const last = found.filter(({ period }) => period === '2026-02-01');
  expect(figures(last, 'node', 'units', 'weight_pct', 'young', 'laspeyres', 'contribution')).toEqual([
    ['all', 3, 100, 104, 104, 4],
    ['01', 2, 80, 117.5, 117.5, 14],
    ['01.2', 2, 80, 117.5, 117.5, 14],
    ['01.2.1', 2, 80, 117.5, 117.5, 14],
    ['05', 1, 20, 50, 50, -10],
    ['05.4', 1, 20, 50, 50, -10],
  ]);
  // No price changed in March.
  const march = found.filter(({ period }) => period === '2026-03-01');
  expect(figures(march, 'contribution').flat()).toEqual([0, 0, 0, 0, 0, 0]);
});

test('shares of both periods yield a Törnqvist index, and weights_period selects the weights of young', async () => {
  const dated =
    'category,period,weight\ntea,2026-01-01,300\ncoffee,2026-01-01,100\ntea,2026-02-01,100\ncoffee,2026-02-01,100\n';
  const [, february] = await rows(dated);
  const share = (0.75 + 0.5) / 2;
  const tornqvist = 100 * 1.2 ** share * 1.1 ** (1 - share);
  expect(february?.laspeyres).toBeCloseTo(117.5, 9);
  expect(february?.tornqvist).toBeCloseTo(tornqvist, 9);
  expect(february?.geks_tornqvist).toBeCloseTo(tornqvist, 9);
  const [, other] = await rows(dated, { set: ['weights_period=2026-02-01'] });
  expect(other?.young).toBeCloseTo(115, 9);
});

test("weights may be by shop, and units without a price don't count", async () => {
  const found = await rows('shop,weight\n1,60\n2,30\n99,10\n');
  // Both shops sell the fixture's kettle, whose price doesn't change.
  const [alpha, beta] = [100 * Math.sqrt(1.2), 100 * Math.cbrt(1.1 * 0.5)];
  expect(found[1]).toMatchObject({ node: 'all', units: 2, covered_pct: 90, time_zone: 'UTC' });
  expect(found[1]?.young).toBeCloseTo((alpha * 60 + beta * 30) / 90, 9);
});

test.each([
  ['category,weight\ntea,-1\n', /weights\.csv:2: weight "-1" is not a number of 0 or more/u],
  ['category,weight\ntea,many\n', /:2: weight "many" is not/u],
  ['category,weight\ntea,1\ntea,2\n', /:2: tea has two weights/u],
  ['category,shop,weight\ntea,1,1\n', /:2: each line must have exactly one of category, shop/u],
  ['category,period,weight\ntea,May,1\n', /:2: period "May" is not a day/u],
  ['category,share\ntea,1\n', /:1: missing column weight/u],
  ['category,shop,weight\ntea,,1\n,2,1\n', /all lines must have the same kind of weight/u],
  ['category,weight\n', /the file has no weights/u],
])('weights %j are refused with their line', async (weights, message) => {
  const { code, stderr } = await ask(weights);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

test.each([
  ['child,parent\ntea,tea\n', /tree\.csv:2: tea is its own parent/u],
  ['child,parent\ntea,a\ntea,b\n', /:2: tea has two parents/u],
  ['child,parent\ntea,\n', /:2: a line needs both a child and a parent/u],
  ['child,parent\ntea,a\na,b\nb,a\n', /tree\.csv: a is its own ancestor/u],
])('the tree %j is refused', async (tree, message) => {
  const { code, stderr } = await ask(FOOD, { tree });
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

test('without weights, or with a conflicting by, the query explains what to do', async () => {
  const { stderr } = await runHere(['query', '--lake', lake, '--analysis', 'weighted_index']);
  expect(stderr).toMatch(/Pass weights with --weights: a CSV file/u);
  expect((await ask(FOOD, { set: ['by=shop'] })).stderr).toMatch(
    /by=shop conflicts with .*which has weights by category/u,
  );
});
