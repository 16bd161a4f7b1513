import { afterAll, describe, expect, it } from 'vitest';
import { createSpellsView } from '../../src/analyze/analysis.js';
import { Database } from '../../src/sql/connection.js';
import { createTable } from '../check/lake-world.js';
import { createSeeded } from '../seeded.js';
import { DAY, HOUR, START } from './history-world.js';
import { ask, type Plain } from './moving-world.js';
import { type Listing, loadPriceWorld, SEEN_AT } from './price-world.js';

/** Spellings of one word each: case, accents, and endings behind the fourth letter. */
const WORDS = [
  ['Kaffee', 'KAFFEE', 'kaffeé'],
  ['gemahlen', 'Gemahlene', 'GEMAHLENER'],
  ['Żubr', 'zubr', 'ZUBR'],
  ['Čokoláda', 'cokoladova', 'ČOKOLÁDY'],
  ['καφές', 'ΚΑΦΕΣ'],
  ['50010', '(50010)'],
  ['50012', '50012,'],
  ['g', 'G'],
] as const;

/** A page of a shop, in the spellings of its address; all of one page have its path. */
const spellAddress = (page: number, query: number, dice: number) => {
  const rest = `shop.example/p/${page}${query === 0 ? '' : `?id=${query}`}`;
  return [`https://${rest}`, `http://www.${rest}`, `HTTPS://WWW.${rest}#top`, `https://${rest}/`][dice % 4] as string;
};

interface Told extends Listing {
  endedAt: number | undefined;
  isGone: boolean;
  product: string | null;
  /** Indexes of WORDS. */
  words: number[] | null;
  title: string | null;
  page: number;
  query: number;
  url: string | null;
}

/** Shops that replace listings soon, late, by two, under another address, title or code, or not at all. */
function makeListings(seed: number): Told[] {
  const random = createSeeded(seed);
  const listings: Told[] = [];
  for (let siteId = 1; siteId <= 4; siteId++) {
    for (let line = 0; line < 45; line++) {
      const words = [...new Set([line % 8, random.integer(8), random.integer(8), random.integer(8)])];
      for (let from = random.integer(60) * DAY; from < SEEN_AT && random.fraction() < 0.8; ) {
        const to = from + HOUR + random.integer(40 * DAY);
        const endedAt = to < SEEN_AT && random.fraction() < 0.9 ? to : undefined;
        const itemId = 1 + listings.length;
        const own = random.fraction() < 0.15 ? [...words, random.integer(8)] : words;
        const shown = random.fraction() < 0.05 ? null : [...new Set(own)];
        const query = random.integer(3) === 0 ? itemId : 0;
        // Prices change twice, once by an implausible amount.
        const units = 10_000 * (3 + random.integer(90));
        const middle = from + Math.floor((to - from) / 2);
        const last = { to: endedAt ?? Infinity, units: units + 20_000, isTold: true };
        listings.push({
          itemId,
          productId: `p${line}`,
          siteId,
          category: line % 3 ? 'toys' : 'tools',
          currency: random.fraction() < 0.1 ? 'PLN' : 'EUR',
          firstSeenAt: from,
          segments: [
            { from, to: middle, units: random.integer(5) === 0 ? units * 100 : units, isTold: true },
            { from: middle, ...last },
          ],
          endedAt,
          isGone: itemId % 5 === 0,
          product: random.fraction() < 0.4 ? null : `p${random.fraction() < 0.1 ? line + 1 : line}`,
          words: shown,
          title:
            shown === null
              ? null
              : [...shown]
                  .sort(() => random.fraction() - 0.5)
                  .map((word) => WORDS[word]?.[random.integer(WORDS[word]?.length ?? 1)])
                  .join([' ', ', ', ' – '][random.integer(3)]),
          page: line + (random.fraction() < 0.3 ? 1000 * itemId : 0),
          query,
          url: null,
        });
        const told = listings.at(-1) as Told;
        if (random.fraction() < 0.9) told.url = spellAddress(told.page, query, random.integer(4));
        // The next one comes before this one's end is noticed, soon after it, or late.
        from = to + ([-20 * HOUR, HOUR, 3 * DAY, 9 * DAY, 35 * DAY][random.integer(5)] as number) + random.integer(DAY);
        if (random.fraction() < 0.15) from = told.firstSeenAt + random.integer(20 * DAY) + HOUR;
      }
    }
  }
  return listings;
}

async function openWorld(seed: number): Promise<{ db: Database; listings: Told[] }> {
  const db = await Database.open();
  const listings = makeListings(seed);
  await loadPriceWorld(db, listings);
  await createTable(db, 'offers');
  await createTable(db, 'offer_rules');
  await db.run(
    'ALTER TABLE products ADD COLUMN category_name VARCHAR; ALTER TABLE products ADD COLUMN category_path VARCHAR',
  );
  await db.run(
    `CREATE TABLE told AS SELECT (v->>'itemId')::BIGINT AS id, v->>'product' AS product, v->>'title' AS words, v->>'url' AS address,
      (v->>'isGone')::BOOLEAN AS is_gone FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [JSON.stringify(listings)],
  );
  await db.run(`UPDATE items SET product_id = product, title = words, url = address, gone_at = CASE WHEN is_gone THEN removed_at END,
    removed_at = CASE WHEN NOT is_gone THEN removed_at END FROM told WHERE id = item_id`);
  // Their numbers exceed a double.
  for (const table of ['items', 'history']) await db.run(`UPDATE ${table} SET item_id = item_id + 9007199254740992`);
  await createSpellsView(db);
  return { db, listings };
}

/** The evidence that two listings of a shop share, or null if it doesn't make them a pair. */
function findEvidence(old: Told, next: Told): string[] | null {
  const evidence = [];
  if (old.product !== null && old.product === next.product) evidence.push('product');
  const keyOf = (words: number[]) => [...words].sort().join();
  const isWordy = old.words !== null && next.words !== null && old.words.length >= 3;
  if (isWordy && keyOf(old.words as number[]) === keyOf(next.words as number[])) evidence.push('title');
  const isPage = old.url !== null && next.url !== null && old.page === next.page;
  if (isPage && old.query === next.query) evidence.push('url');
  const differs = old.product !== null && next.product !== null && old.product !== next.product;
  if (evidence.length === 0 || (evidence.join() === 'title' && differs)) return null;
  return isPage && old.query !== next.query ? [...evidence, 'path'] : evidence;
}

interface Pair {
  old: Told;
  next: Told;
  evidence: string[];
}

/** Every row that analysis successors must have, in its order. */
function findSuccessors(listings: readonly Told[], days = 30, overlapDays = 1): Plain[] {
  const pairs: Pair[] = [];
  for (const old of listings) {
    if (old.endedAt === undefined) continue;
    for (const next of listings) {
      const gap = next.firstSeenAt - old.endedAt;
      if (next.siteId !== old.siteId || next.firstSeenAt <= old.firstSeenAt) continue;
      if (gap < -overlapDays * DAY || gap > days * DAY) continue;
      const evidence = findEvidence(old, next);
      if (evidence !== null) pairs.push({ old, next, evidence });
    }
  }
  const known = new Set(pairs.map(({ old, next }) => `${old.itemId} ${next.itemId}`));
  const direct = pairs.filter(
    ({ old, next }) =>
      !listings.some(({ itemId }) => known.has(`${old.itemId} ${itemId}`) && known.has(`${itemId} ${next.itemId}`)),
  );
  const rows = direct.map(({ old, next, evidence }) => {
    const candidates = direct.filter((one) => one.old === old).length;
    const rivals = direct.filter((one) => one.next === next).length;
    const [last, first] = [old.segments.at(-1)?.units as number, next.segments[0]?.units as number];
    return {
      old_item_id: 9007199254740992n + BigInt(old.itemId),
      new_item_id: 9007199254740992n + BigInt(next.itemId),
      site_id: BigInt(old.siteId),
      shop: `Shop ${old.siteId}`,
      product_id: old.product ?? next.product,
      title: old.title,
      new_title: next.title,
      evidence,
      ended_at: old.endedAt as number,
      first_seen_at: next.firstSeenAt,
      gap_days: (next.firstSeenAt - (old.endedAt as number)) / DAY,
      last_price: BigInt(last),
      last_currency: old.currency,
      first_price: BigInt(first),
      first_currency: next.currency,
      change_pct: old.currency === next.currency ? (100 * ((first - last) / 10_000)) / (last / 10_000) : null,
      candidates: BigInt(candidates),
      rivals: BigInt(rivals),
      is_ambiguous: candidates > 1 || rivals > 1,
      url: old.url,
      new_url: next.url,
      attribution: old.siteId % 2 === 0 ? `CC BY ${old.siteId}` : null,
    };
  });
  return rows.sort(
    (a, b) => b.ended_at - a.ended_at || Number(a.old_item_id - b.old_item_id) || Number(a.new_item_id - b.new_item_id),
  );
}

describe('successors', async () => {
  const { db, listings } = await openWorld(11);
  afterAll(() => db.close());
  const all = { top: '9999' };
  const count = (rows: Plain[], test: (row: Plain) => boolean) => rows.filter(test).length;

  it('are pairs of an ended listing and a new one of the same shop, with their evidence', async () => {
    const rows = await ask(db, 'successors', all);
    expect(rows).toEqual(findSuccessors(listings));
    expect(await ask(db, 'successors')).toEqual(rows.slice(0, 100));
    // Each kind of evidence occurs alone, and so does each kind of doubt.
    for (const kind of ['product', 'title', 'url'])
      expect(count(rows, ({ evidence }) => `${evidence}` === kind)).toBeGreaterThan(0);
    expect(count(rows, ({ evidence }) => `${evidence}`.includes('path'))).toBeGreaterThan(5);
    expect(count(rows, ({ candidates }) => (candidates as bigint) > 1n)).toBeGreaterThan(5);
    expect(count(rows, ({ rivals }) => (rivals as bigint) > 1n)).toBeGreaterThan(5);
    expect(count(rows, ({ is_ambiguous }) => is_ambiguous === false)).toBeGreaterThan(50);
    expect(count(rows, ({ gap_days }) => (gap_days as number) < 0)).toBeGreaterThan(5);
    expect(count(rows, ({ change_pct }) => change_pct === null)).toBeGreaterThan(5);
  });

  it.each([
    [0, 0],
    [5, 1],
    [60, 3],
  ])('start within %i days of the end, or at most %i days before it is noticed', async (days, overlapDays) => {
    const rows = await ask(db, 'successors', { ...all, days: `${days}`, overlap_days: `${overlapDays}` });
    expect(rows).toEqual(findSuccessors(listings, days, overlapDays));
  });

  it('can be limited to one shop, product or category, or to listings that ended after a time', async () => {
    const rows = findSuccessors(listings);
    const at = (rows[20] as Plain).ended_at as number;
    const since = new Date((START + at) / 1000).toISOString();
    const last = (rows: Plain[]) => rows.filter(({ ended_at }) => (ended_at as number) >= Math.floor(at / 1000) * 1000);
    expect(await ask(db, 'successors', { ...all, since })).toEqual(last(rows));
    expect(await ask(db, 'successors', { ...all, site_id: '3' })).toEqual(rows.filter(({ site_id }) => site_id === 3n));
    const categoryOf = new Map(listings.map((one) => [9007199254740992n + BigInt(one.itemId), one.category]));
    const isTool = ({ old_item_id, new_item_id }: Plain) =>
      [old_item_id, new_item_id].some((id) => categoryOf.get(id as bigint) === 'tools');
    expect(await ask(db, 'successors', { ...all, category: 'tools' })).toEqual(rows.filter(isTool));
    const productOf = new Map(listings.map((one) => [9007199254740992n + BigInt(one.itemId), one.product]));
    const isFive = ({ old_item_id, new_item_id }: Plain) =>
      [old_item_id, new_item_id].some((id) => productOf.get(id as bigint) === 'p5');
    expect(rows.filter(isFive).length).toBeGreaterThan(0);
    expect(await ask(db, 'successors', { ...all, product: 'p5' })).toEqual(rows.filter(isFive));
  });

  it('ignore a title or address that more than 100 ended listings of the shop share', async () => {
    const shared = await Database.open();
    for (const table of ['items', 'history', 'sites', 'products', 'offers', 'offer_rules'] as const)
      await createTable(shared, table);
    await createSpellsView(shared);
    const fill = (ended: number) =>
      shared.run(`DELETE FROM items; INSERT INTO items BY NAME SELECT n AS item_id, 1 AS site_id, 'Title not yet known' AS title,
        TIMESTAMPTZ '2026-01-01 00:00:00Z' + INTERVAL (n) SECOND AS first_seen_at, false AS is_listed, 'r1' AS run_id,
        TIMESTAMPTZ '2026-02-01 00:00:00Z' + INTERVAL (n) SECOND AS removed_at FROM range(${ended}) t(n)
        UNION ALL SELECT 999, 1, 'Title not yet known', TIMESTAMPTZ '2026-02-03 00:00:00Z', true, 'r1', NULL`);
    await fill(100);
    expect(await ask(shared, 'successors', all)).toHaveLength(100);
    await fill(101);
    expect(await ask(shared, 'successors', all)).toEqual([]);
    shared.close();
  });
});
