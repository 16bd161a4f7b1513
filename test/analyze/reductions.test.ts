import { afterAll, describe, expect, it } from 'vitest';
import { createSpellsView } from '../../src/analyze/analysis.js';
import type { Database } from '../../src/sql/connection.js';
import { createTable, fillDerived, insertRows, openEmptyTables } from '../check/lake-world.js';
import { createSeeded } from '../seeded.js';
import { DAY, HOUR } from './history-world.js';
import { ask, type Plain } from './moving-world.js';
import { isSuspect as isSuspectIn, type Listing, loadPriceWorld, makePriceWorld, type Segment } from './price-world.js';

/** A listing with a regular price, and when it was raised; some shops call it `was`. */
interface Announced extends Listing {
  regular: number | null;
  raisedAt: number | null;
}

/** Judges by the listing's own prices, because offers that are wrong today have no row. */
const isSuspect = (listing: Listing, segment: Segment) => segment.to !== Infinity && isSuspectIn(listing, segment);

const nameOf = ({ siteId }: Listing) => (siteId === 3 ? 'was' : 'regularPrice');

/** Announces regular prices at, above and below the earlier price. */
function announce(listings: Listing[], seed: number): Announced[] {
  const random = createSeeded(seed);
  return listings.map((listing) => {
    const last = listing.segments.at(-1) as Segment;
    const past = listing.segments.slice(-4).map(({ units }) => units);
    const dice = random.integer(6);
    const regular =
      dice === 0
        ? null
        : dice < 4
          ? 100 * Math.round(Math.max(...past) / 100)
          : 100 * Math.round((last.units * (1.1 + random.fraction())) / 100);
    const isRaised = regular !== null && random.fraction() < 0.3;
    const raisedAt = last.from + (random.fraction() < 0.5 ? -random.integer(20) * DAY : HOUR);
    return { ...listing, regular, raisedAt: isRaised ? Math.max(HOUR, raisedAt) : null };
  });
}

async function openWorld(made: Announced[]): Promise<{ db: Database; listings: Announced[] }> {
  const db = await openEmptyTables();
  const known = await loadPriceWorld(db, made);
  const listings = made.map((one, k) => ({ ...one, ...known[k] }));
  await createTable(db, 'products');
  for (const one of listings) {
    if (one.regular === null) continue;
    const regular = (one.regular / 10_000).toFixed(4);
    const name = nameOf(one);
    await db.run(`UPDATE items SET attributes = '{"${name}":${regular}}' WHERE item_id = ${one.itemId}`);
    const told = (at: number, change: string) =>
      insertRows(db, 'history', [
        {
          change_id: `${1_000_000 + one.itemId * 10 + Math.round((at % 7) + 1)}`,
          item_id: `${one.itemId}`,
          observed_at: `make_timestamptz(${Date.UTC(2026, 0, 1) * 1000 + at})`,
          observed_date: `DATE '2026-01-01' + ${Math.floor(at / DAY)}`,
          changes: `'${change}'`,
        },
      ]);
    if (one.raisedAt !== null)
      await told(
        one.raisedAt,
        `{"${one.itemId % 2 ? '' : 'attributes.'}${name}":[${one.itemId % 3 ? '0.5' : 'null'},${regular}]}`,
      );
    // Not a raise: a lower one, another attribute.
    await told(140 * DAY, `{"${name}":[99999999,${regular}],"other":[1,2]}`);
  }
  await insertRows(db, 'offer_rules', [
    { rule: "'attribute'", meaning: "'regular price'", text: "'regularPrice'", run_id: "'r1'" },
    { rule: "'attribute'", meaning: "'regular price'", text: "'was'", site_id: '3', run_id: "'r1'" },
  ]);
  await fillDerived(db);
  await createSpellsView(db);
  return { db, listings };
}

/** Every row that analysis reductions must have, in its order. */
function findReductions(listings: readonly Announced[], wrong: ReadonlySet<number>, days = 30): Plain[] {
  const rows = listings.flatMap((one) => {
    const { segments, regular, raisedAt } = one;
    const last = segments.at(-1) as Segment;
    if (last.to !== Infinity || regular === null || regular <= last.units || wrong.has(one.itemId)) return [];
    let begun = last;
    for (let k = segments.length - 2; k >= 0; k--) {
      const before = segments[k] as Segment;
      if (before.to !== begun.from || before.units <= begun.units || before.units >= regular || isSuspect(one, before))
        break;
      begun = before;
    }
    const at = Math.max(begun.from, raisedAt ?? 0);
    const from = at - days * DAY;
    let [known, unsure, lowest] = [0, 0, Infinity];
    for (const segment of segments) {
      const overlap = Math.min(segment.to, at) - Math.max(segment.from, from);
      if (overlap <= 0) continue;
      if (segment.isTold && !isSuspect(one, segment)) known += overlap;
      else unsure += overlap;
      if (!isSuspect(one, segment)) lowest = Math.min(lowest, segment.units);
    }
    const first = segments[0] as Segment;
    const unknown = unsure + (first.isTold ? 0 : Math.min(days * DAY, Math.max(0, first.from - from)));
    const verdict = lowest < regular ? 'not honest' : lowest < Infinity && unknown === 0 ? 'honest' : 'not known';
    const money = (units: number) => units / 10_000;
    return [
      {
        item_id: BigInt(one.itemId),
        title: `Title ${one.productId}`,
        product_id: one.productId,
        site_id: BigInt(one.siteId),
        shop: `Shop ${one.siteId}`,
        currency: one.currency,
        price: BigInt(last.units),
        regular_price: BigInt(regular),
        announced_pct: (100 * money(regular - last.units)) / money(regular),
        began_at: at,
        lowest_before: lowest === Infinity ? null : BigInt(lowest),
        cut_from_lowest_pct: lowest === Infinity ? null : (100 * money(lowest - last.units)) / money(lowest),
        days_known: known / DAY,
        days_unlisted: (days * DAY - known - unknown) / DAY,
        days_unknown: unknown / DAY,
        verdict,
        url: null,
        attribution: one.siteId % 2 === 0 ? `CC BY ${one.siteId}` : null,
      },
    ];
  });
  const count = (site: bigint, verdict: string) =>
    BigInt(rows.filter((row) => row.site_id === site && row.verdict === verdict).length);
  const ORDER = ['not honest', 'honest', 'not known'];
  return rows
    .map((row) => ({
      ...row,
      shop_honest: count(row.site_id, 'honest'),
      shop_not_honest: count(row.site_id, 'not honest'),
      shop_not_known: count(row.site_id, 'not known'),
    }))
    .sort(
      (a, b) =>
        ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict) ||
        b.announced_pct - a.announced_pct ||
        Number(a.item_id - b.item_id),
    );
}

describe.each([3, 8, 21])('reductions of world %i', async (seed) => {
  const { db, listings } = await openWorld(announce(makePriceWorld(seed), seed));
  afterAll(() => db.close());
  const all = { top: '9999' };
  const marked = await db.rows("SELECT item_id FROM offers WHERE list_has_any(findings, ['placeholder', 'scale'])");
  const wrong = new Set(marked.map(({ item_id }) => Number(item_id)));

  it('are compared with the lowest price of the preceding days', async () => {
    const rows = await ask(db, 'reductions', all);
    expect(rows).toEqual(findReductions(listings, wrong));
    expect(rows.length).toBeGreaterThan(10);
    for (const days of [7, 90]) {
      expect(await ask(db, 'reductions', { ...all, days: `${days}` })).toEqual(findReductions(listings, wrong, days));
    }
    expect(await ask(db, 'reductions', { top: '3' })).toEqual(rows.slice(0, 3));
  });

  it('can be limited to one shop, product, currency or category, and are counted within it', async () => {
    const pick = (test: (one: Announced) => boolean) => findReductions(listings.filter(test), wrong);
    expect(await ask(db, 'reductions', { ...all, site_id: '3' })).toEqual(pick(({ siteId }) => siteId === 3));
    expect(await ask(db, 'reductions', { ...all, product: 'p04' })).toEqual(
      pick(({ productId }) => productId === 'p04'),
    );
    expect(await ask(db, 'reductions', { ...all, currency: 'PLN' })).toEqual(
      pick(({ currency }) => currency === 'PLN'),
    );
    expect(await ask(db, 'reductions', { ...all, category: 'toys' })).toEqual(
      pick(({ category }) => category === 'toys'),
    );
  });
});

it('a reduction is not judged if the preceding days are older than the first known change', async () => {
  const segments = [
    { from: 0, to: 100 * DAY, units: 110_000, isTold: true },
    { from: 100 * DAY, to: 145 * DAY, units: 100_000, isTold: true },
    { from: 145 * DAY, to: Infinity, units: 80_000, isTold: true },
  ];
  const base = {
    siteId: 1,
    category: 'toys',
    currency: 'EUR',
    firstSeenAt: 0,
    segments,
    regular: 100_000,
    raisedAt: null,
  };
  // The first changes of item 9 are no longer in history.
  const { db } = await openWorld([9, 10].map((itemId) => ({ ...base, itemId, productId: `p${itemId}` })));
  const rows = await ask(db, 'reductions');
  expect(rows.map((row) => [row.item_id, row.verdict, row.days_known, row.days_unknown])).toEqual([
    [10n, 'honest', 30, 0],
    [9n, 'not known', 0, 30],
  ]);
  db.close();
});
