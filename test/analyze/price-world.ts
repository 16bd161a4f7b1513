import type { Database } from '../../src/sql/connection.js';
import { createSeeded } from '../seeded.js';
import { DAY, HOUR, loadHistoryWorld, type PastChange, type PastItem, START } from './history-world.js';

/** A listing's price from one instant to another; Infinity means that it is current. `isTold` is true if the change at its start is known. */
export interface Segment {
  from: number;
  to: number;
  units: number;
  isTold: boolean;
}

/** A listing whose past is known independently of its changes. Instants are microseconds after START. */
export interface Listing {
  itemId: number;
  productId: string;
  siteId: number;
  category: string;
  currency: string;
  firstSeenAt: number;
  segments: Segment[];
}

export const WORLD_DAYS = 150;
/** The service looked last then: noon of the day after. */
export const SEEN_AT = WORLD_DAYS * DAY + DAY / 2;
export const LAST_CLOSED_DAY = WORLD_DAYS - 1;

/** Listings of a dozen products in six shops, two of which sell in another currency. */
export function makePriceWorld(seed: number): Listing[] {
  const random = createSeeded(seed);
  const listings: Listing[] = [];
  for (let product = 0; product < 12; product++) {
    const level = 100 * (80 + random.integer(9000));
    for (let siteId = 1; siteId <= 6; siteId++) {
      if (random.fraction() < 0.2) continue;
      const currency = siteId > 4 ? 'PLN' : 'EUR';
      const firstSeenAt = random.fraction() < 0.5 ? 0 : random.integer(40 * 24) * HOUR + random.integer(3_600_000_000);
      const itemId = 1000 + listings.length;
      const usual = Math.round((level * (currency === 'PLN' ? 4.3 : 1)) / 100) * 100;
      listings.push({
        itemId,
        productId: `p${String(product).padStart(2, '0')}`,
        siteId,
        category: product < 7 ? 'toys' : 'tools',
        currency,
        firstSeenAt,
        segments: mistype(makeSegments(random, firstSeenAt, usual), itemId),
      });
    }
  }
  return listings;
}

/** Of each fifth listing one price of the past is a hundred times too high, or too low. */
function mistype(segments: Segment[], itemId: number): Segment[] {
  const wrong = 1 + (itemId % 3);
  if (itemId % 5 > 0 || wrong > segments.length - 2) return segments;
  return segments.map((one, k) =>
    k === wrong ? { ...one, units: itemId % 2 ? one.units / 100 : one.units * 100 } : one,
  );
}

/** Without the suspect prices. */
export function trustPrices(listing: Listing): Listing {
  return { ...listing, segments: listing.segments.filter((segment) => !isSuspect(listing, segment)) };
}

/** Today's price of a listing whose number leaves 3 by 8 is off scale (table `offers`). */
export const isOffScale = (itemId: number) => itemId % 8 === 3;

export function isSuspect({ itemId, segments }: Listing, segment: Segment): boolean {
  const place = segments.indexOf(segment);
  const isReturn = findEpisodes(segments.map((one) => one.units)).some(([, end]) => end === place);
  if (segment.to === Infinity && isOffScale(itemId) && !isReturn) return true;
  return findEpisodes(segments.map((one) => one.units)).some(([begin, end]) => place >= begin && place < end);
}

/** Prices from a jump by 10, 100 or 1,000 times until the one that takes it back, the obvious way. */
export function findEpisodes(prices: number[]): [number, number][] {
  const jumpTo = (k: number) => {
    const tens = Math.log10((prices[k] as number) / (prices[k - 1] ?? Number.NaN));
    const nearest = Math.round(tens);
    return Math.abs(tens - nearest) <= 0.1 && Math.abs(nearest) >= 1 && Math.abs(nearest) <= 3 ? nearest : 0;
  };
  const found: [number, number][] = [];
  let k = 1;
  while (k < prices.length) {
    const end = jumpTo(k) === 0 ? -1 : prices.findIndex((_, later) => later > k && jumpTo(later) !== 0);
    const isBack = end > 0 && jumpTo(end) === -jumpTo(k);
    const isNear = isBack && Math.abs(Math.log10((prices[end] as number) / (prices[k - 1] as number))) <= 0.2;
    if (isNear) found.push([k, end]);
    k = isNear ? end + 1 : k + 1;
  }
  return found;
}

function makeSegments(random: ReturnType<typeof createSeeded>, firstSeenAt: number, level: number): Segment[] {
  const segments: Segment[] = [];
  const next = (at: number) =>
    at + (1 + random.integer(25)) * DAY - (random.fraction() < 0.5 ? at % DAY : random.integer(20) * HOUR);
  let usual = Math.max(100, Math.round((level * (0.8 + 0.4 * random.fraction())) / 100) * 100);
  let units = usual;
  for (let from = firstSeenAt; from < WORLD_DAYS * DAY; ) {
    const to = Math.max(from + HOUR, next(from));
    const isLast = to >= WORLD_DAYS * DAY;
    segments.push({ from, to: isLast ? Infinity : to, units, isTold: true });
    const dice = random.fraction();
    from = to;
    if (dice < 0.12) {
      if (random.fraction() < 0.4) break;
      from += random.integer(12) * DAY + HOUR;
      if (from >= WORLD_DAYS * DAY) break;
    }
    const before = units;
    if (units < usual && dice < 0.7) units = usual;
    else if (dice < 0.75) units = Math.round((usual * (0.6 + 0.35 * random.fraction())) / 100) * 100;
    else units = usual = Math.round((usual * (0.85 + 0.35 * random.fraction())) / 100) * 100;
    units = Math.max(100, units);
    if (units === before && from === to) units += 100;
  }
  return segments;
}

/** Makes tables `items`, `history`, `sites` and `products` that tell of these listings, and gives what can be known of them. */
export async function loadPriceWorld(db: Database, listings: readonly Listing[]): Promise<Listing[]> {
  const told = listings.map(tellPast);
  let changeId = 0;
  const changes = told.flatMap(({ item }) => item.past).sort((a, b) => a.at - b.at);
  for (const change of changes) change.changeId = ++changeId;
  await loadHistoryWorld(
    db,
    told.map(({ item }) => item),
  );
  await db.run(
    `CREATE OR REPLACE TABLE categories AS SELECT (v->>'itemId')::BIGINT AS item_id, v->>'category' AS slug
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [JSON.stringify(listings)],
  );
  await db.run(`UPDATE items SET category_slug = slug, title = 'Title ' || product_id,
    last_seen_at = make_timestamptz((${START + SEEN_AT})::BIGINT) FROM categories WHERE categories.item_id = items.item_id`);
  await db.run(`CREATE OR REPLACE TABLE products AS
    SELECT product_id, any_value(title) AS title, any_value(category_slug) AS category_slug FROM items GROUP BY product_id`);
  await db.run(`CREATE OR REPLACE TABLE sites AS SELECT id AS site_id, 'Shop ' || id AS name, 'shop' || id AS host,
    CASE WHEN id % 2 = 0 THEN 'CC BY ' || id END AS attribution, true AS is_current FROM range(1, 7) t(id)`);
  return told.map(({ known }) => known);
}

/** Of each ninth listing the first changes are not told any more: the price before the first that is stands since it was first seen. */
function tellPast(listing: Listing): { item: PastItem; known: Listing } {
  const { itemId, productId, siteId, currency, firstSeenAt } = listing;
  const past: PastChange[] = [];
  const tell = (kind: PastChange['kind'], at: number, units: number, unitsBefore: number | null) =>
    past.push({ changeId: null, kind, at, units, unitsBefore, currency, names: 'price', origin: 'feed' });
  let changedAt: number | null = null;
  let unitsBefore: number | null = null;
  for (const [k, segment] of listing.segments.entries()) {
    const before = listing.segments[k - 1];
    const hasMoved = before !== undefined && before.units !== segment.units;
    if (before === undefined) tell('NEW', segment.from, segment.units, null);
    else if (before.to < segment.from) tell('RELISTED', segment.from, segment.units, hasMoved ? before.units : null);
    else tell('CHANGED', segment.from, segment.units, before.units);
    if (hasMoved) [changedAt, unitsBefore] = [segment.from, before.units];
    const next = listing.segments[k + 1];
    if (segment.to !== Infinity && next?.from !== segment.to) tell('REMOVED', segment.to, segment.units, null);
  }
  const last = listing.segments.at(-1) as Segment;
  const removedAt = last.to === Infinity ? null : last.to;
  const item = {
    itemId,
    productId,
    siteId,
    units: last.units,
    unitsBefore,
    changedAt,
    currency,
    firstSeenAt,
    removedAt,
    goneAt: null,
  };
  const first = past.findIndex(({ kind }, k) => k > 1 && kind === 'CHANGED');
  if (itemId % 9 > 0 || first < 0) return { item: { ...item, past }, known: listing };
  const at = (past[first] as PastChange).at;
  const later = listing.segments.filter(({ from }) => from >= at);
  const before = { from: firstSeenAt, to: at, units: (past[first] as PastChange).unitsBefore as number, isTold: false };
  return { item: { ...item, past: past.slice(first) }, known: { ...listing, segments: [before, ...later] } };
}

/** The price at the end of a day. */
export function priceOn(listing: Listing, day: number): number | null {
  const end = (day + 1) * DAY;
  return listing.segments.find(({ from, to }) => from < end && end <= to)?.units ?? null;
}
