/** Products that belong together, from the first evidence to the last. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { showSpread } from '../../src/cli/actions/show-spread.js';
import { openLake } from '../../src/lake/lake.js';
import { Database } from '../../src/sql/connection.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { actJson, openContext } from '../cli/open-context.js';
import { testIo } from '../run/world.js';
import { createSeeded } from '../seeded.js';
import { expectSound } from '../sim/simulation.js';
import type { Item } from '../sim/world.js';
import { openStory, type Story } from './story.js';

const GTIN = '4006381333931';
const OTHER = '5901234123457';
const RADIO = { brand: 'Acme', mpn: 'R-1', title: 'Acme radio R-1' };
const LAMP = { brand: 'Acme', mpn: 'n/a', title: 'Acme lamp' };
let story: Story;
let both: Item;
beforeAll(async () => {
  story = await openStory();
  story.at('17 08:00');
  // Two shops know the GTIN, and two only know the part number. One of the first two knows both.
  both = story.add({ ...RADIO, gtin: GTIN, siteId: 11n, price: 10_000 });
  story.add({ brand: 'ACME', title: 'Radio Acme', gtin: `0${GTIN}`, siteId: 22n, price: 11_000 });
  story.add({ ...RADIO, siteId: 33n, price: 12_000 });
  story.add({ ...RADIO, mpn: 'r 1', siteId: 44n, price: 8_000 });
  // A part number without a digit is no evidence.
  story.add({ ...LAMP, gtin: OTHER, siteId: 11n, price: 2000 });
  story.add({ ...LAMP, siteId: 22n, price: 2100 });
  for (let n = 0; n < 40; n++) story.add({ brand: 'Bead', mpn: `B-${n}`, siteId: 44n, price: 10 + n });
  await story.run();
});
afterAll(() => story.close());

const matches = () => story.read('SELECT product_id, match_id, evidence, item_id, shops FROM matches');
const RADIO_MATCH = () => [`acme-r1 | ${GTIN} | bridge | ${both.id} | 1`];

async function spread(more: object = {}) {
  const request = { lake: story.lakePath, minShops: 2, top: 20, grade: 'C' as const, ...more };
  const { rows } = await actJson(showSpread, request, openContext(true));
  return rows;
}
const figures = async (more: object = {}) =>
  (await spread(more)).map((row) => [
    row.product_id,
    row.shops,
    row.trusted_min,
    row.trusted_max,
    row.trusted_cheapest_shop,
  ]);

test('an offer with both codes joins the product of the part number with that of the GTIN', async () => {
  expect(await matches()).toEqual(RADIO_MATCH());
});

test('spread compares either products or matches', async () => {
  expect(await figures()).toEqual([
    ['acme-r1', 2, 80, 120, 'Depot'],
    [GTIN, 2, 100, 110, 'Kiosk'],
  ]);
  expect(await figures({ by: 'product' })).toEqual(await figures());
  expect(await figures({ by: 'match' })).toEqual([[GTIN, 4, 80, 120, 'Depot']]);
});

test('a product that is requested by match includes all offers of its match', async () => {
  for (const product of ['acme-r1', `0${GTIN}`]) {
    const offers = await spread({ by: 'match', product });
    expect(offers.map(({ price, shop }) => [price, shop])).toEqual([
      [80, 'Depot'],
      [100, 'Kiosk'],
      [110, 'Museum'],
      [120, 'Market'],
    ]);
  }
  expect(await spread({ product: 'acme-r1' })).toHaveLength(2);
  await expect(spread({ by: 'match', daily: true })).rejects.toMatchObject({ code: 'usage' });
});

test('verify computes the same matches', async () => {
  const db = await Database.open();
  const lake = await openLake(story.lakePath, { create: false });
  const proofs = await verifyLake(lake, db, { signal: new AbortController().signal }, testIo);
  expect(proofs.filter(({ found }) => found > 0)).toEqual([]);
  db.close();
});

test("a removed offer is still evidence, and another new product doesn't cause a rewrite", async () => {
  story.remove(both);
  story.add({ brand: 'Bead', mpn: 'B-99', siteId: 11n, price: 70 });
  const version = () => story.read('SELECT DISTINCT run_id FROM matches');
  const before = await version();
  await story.run();
  expect(await matches()).toEqual(RADIO_MATCH());
  expect(await version()).toEqual(before);
});

test('a part number with two GTINs joins neither', async () => {
  const second = story.add({ ...RADIO, gtin: OTHER, siteId: 22n, price: 30_000 });
  await story.run();
  expect(await matches()).toEqual([]);
  expect(await figures({ by: 'match' })).toEqual(await figures());
  story.change(second, { gtin: GTIN });
  await story.run();
  expect(await matches()).toEqual([`acme-r1 | ${GTIN} | bridge | ${both.id} | 2`]);
});

test('a GTIN with a wrong check digit joins nothing', async () => {
  const beads = ['B-1', 'B-2'].map((mpn, n) =>
    story.add({ brand: 'Bead', mpn, gtin: ['4006381333932', '96385074'][n] ?? null, siteId: 11n, price: 10 }),
  );
  await story.run();
  expect(await story.read("SELECT product_id, item_id FROM matches WHERE product_id LIKE 'bead-%'")).toEqual([
    `bead-b2 | ${beads[1]?.id}`,
  ]);
});

test('after changes of brands, codes and shops, the matches equal those computed from all items at once', async () => {
  const other = await openStory();
  onTestFinished(() => other.close());
  const seeded = createSeeded(11);
  const brands = ['Acme', 'AC-ME', 'acme ', 'Bead', null];
  const draw = () => ({
    brand: seeded.pick(brands),
    mpn: seeded.pick(['R-1', 'r 1', 'R2', 'n/a']),
    gtin: seeded.pick([null, null, GTIN, OTHER]),
    siteId: seeded.pick([11n, 22n, 33n]),
  });
  other.at('17 08:00');
  for (let n = 0; n < 40; n++) other.add({ brand: 'Bead', mpn: `B-${n}`, siteId: 44n, price: 10 + n });
  const items = Array.from({ length: 12 }, () => other.add({ ...draw(), price: 100 }));
  await other.run();
  const seen = new Set<string>();
  for (let round = 0; round < 10; round++) {
    other.at(`18 ${String(8 + round).padStart(2, '0')}:00`);
    const [one, two] = [seeded.pick(items), seeded.pick(items)];
    const field = seeded.pick(['brand', 'mpn', 'gtin', 'siteId'] as const);
    other.change(one, { [field]: draw()[field] });
    other.change(two, { price: 100 + round });
    await other.run();
    await expectSound(other);
    for (const row of await other.read('SELECT product_id, match_id, shops FROM matches')) seen.add(row);
  }
  expect(seen.size).toBeGreaterThan(2);
});

test("the user's matches join and separate products from the next run, even if nothing else changed", async () => {
  const before = await matches();
  const tell = (lines: [string, string, boolean][]) => {
    story.pipeline.userMatches = lines.map(([productId, otherId, isMatch]) => ({ productId, otherId, isMatch }));
  };
  tell([
    ['acme-r1', GTIN, false],
    ['bead-b3', OTHER, true],
  ]);
  expect((await story.run()).published).toBe(true);
  expect((await story.run()).published).toBe(false);
  const told = [`bead-b3 | ${OTHER} | user | ∅ | ∅`, ...before.filter((row) => row.startsWith('bead-b2'))].sort();
  expect((await matches()).sort()).toEqual(told);
  expect(await figures({ by: 'match' })).toContainEqual(['acme-r1', 2, 80, 120, 'Depot']);

  const db = await Database.open();
  const lake = await openLake(story.lakePath, { create: false });
  const proofs = await verifyLake(lake, db, { signal: new AbortController().signal }, testIo);
  expect(proofs.filter(({ found }) => found > 0)).toEqual([]);
  db.close();

  tell([]);
  await story.run();
  expect((await matches()).sort()).toEqual(before.sort());
});
