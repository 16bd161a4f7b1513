import fc from 'fast-check';
import type { Database } from '../../src/sql/connection.js';
import { createTable } from '../check/lake-world.js';

/** The day of a world, as SQL writes it; 0 is the first. */
export const formatDay = (day: number) => new Date((START + day * DAY) / 1000).toISOString().slice(0, 10);

export const HOUR = 3_600_000_000;
export const DAY = 24 * HOUR;
/** The first instant of the worlds; instants are microseconds after it, prices are in units of 0.0001. */
export const START = Date.UTC(2026, 0, 1) * 1000;

const KINDS = ['NEW', 'RELISTED', 'CHANGED', 'REMOVED'];

/** A row of history. */
export interface PastChange {
  changeId: number | null;
  kind: 'NEW' | 'CHANGED' | 'REMOVED' | 'RELISTED';
  at: number;
  units: number | null;
  unitsBefore: number | null;
  currency: string | null;
  /** The content of `changes`: a price pair that agrees with the change, an attribute named price, or nothing. */
  names: 'price' | 'attribute' | 'nothing';
  origin: 'feed' | 'diff';
  /** `changes` names the currency instead: this was the one before. */
  currencyBefore?: string;
  /** Run that wrote it; r1 without one. */
  runId?: string;
}

/** A listing's current state and its known past. */
export interface PastItem {
  itemId: number;
  productId: string | null;
  siteId: number;
  units: number | null;
  unitsBefore: number | null;
  changedAt: number | null;
  currency: string | null;
  firstSeenAt: number | null;
  removedAt: number | null;
  goneAt: number | null;
  past: PastChange[];
}

/** Generates any history, including gaps and contradictions; every way of computing results from it must agree. */
export function historyWorlds(days: number): fc.Arbitrary<PastItem[]> {
  // Many instants on the borders of days, and several changes at once.
  const instant = fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -2, max: days * 2 }).map((half) => half * 12 * HOUR) },
    { weight: 1, arbitrary: fc.integer({ min: -DAY, max: days * DAY }) },
  );
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4 });
  const units = fc.oneof(
    fc.integer({ min: 1, max: 6 }),
    fc.integer({ min: 0, max: 9_999_999 }),
    fc.constant(Number.MAX_SAFE_INTEGER),
  );
  const currency = fc.oneof(
    { weight: 8, arbitrary: fc.constant('EUR') },
    fc.constant('PLN'),
    fc.constant(null),
  ) as fc.Arbitrary<string | null>;
  const change: fc.Arbitrary<PastChange> = fc.record({
    changeId: fc.constant(null),
    kind: fc.constantFrom('NEW', 'CHANGED', 'CHANGED', 'CHANGED', 'REMOVED', 'RELISTED'),
    at: instant,
    units: maybe(units),
    unitsBefore: maybe(units),
    currency,
    names: fc.constantFrom('price', 'attribute', 'nothing'),
    origin: fc.constantFrom('feed', 'feed', 'diff'),
  });
  const item = fc.record({
    itemId: fc.constant(0),
    productId: fc.constantFrom('4006381333931', 'acme-1', null),
    siteId: fc.integer({ min: 1, max: 4 }),
    units: maybe(units),
    unitsBefore: maybe(units),
    changedAt: fc.option(instant, { freq: 2 }),
    currency,
    firstSeenAt: maybe(instant),
    removedAt: fc.option(instant, { freq: 2 }),
    goneAt: fc.option(instant, { freq: 2 }),
    past: fc.array(change, { maxLength: 6 }),
  });
  return fc.array(item, { minLength: 1, maxLength: 14 }).map(numberWorld);
}

/** Ids as a service gives them: changes of the feed are numbered in the order in which they are observed. */
function numberWorld(items: PastItem[]): PastItem[] {
  const fed = items.flatMap(({ past }) => past).filter(({ origin }) => origin === 'feed');
  fed.reverse().sort((a, b) => a.at - b.at);
  for (const [index, change] of fed.entries()) change.changeId = index + 1;
  for (const [index, item] of items.entries()) item.itemId = index + 1;
  // Of differences of a kind at one instant there is one (key of history).
  return items.map((item) => {
    const keys = new Set<string>();
    const isNew = ({ at, kind }: PastChange) => !keys.has(`${at} ${kind}`) && keys.add(`${at} ${kind}`);
    return { ...item, past: item.past.filter((change) => change.origin === 'feed' || isNew(change)) };
  });
}

/** Makes tables `items`, `history` and `sites` of a world. */
export async function loadHistoryWorld(db: Database, items: PastItem[]): Promise<void> {
  for (const table of ['items', 'history', 'sites', 'sources', 'shop_currencies', 'offer_rules'] as const)
    await createTable(db, table);
  const time = (name: string) => `make_timestamptz((v ->> '${name}')::BIGINT + ${START})`;
  const money = (name: string) => `((v ->> '${name}')::DECIMAL(18, 0) * 0.0001)::DECIMAL(18, 4)`;
  await db.run(
    `INSERT INTO items BY NAME
     SELECT (v ->> 'itemId')::BIGINT AS item_id, v ->> 'productId' AS product_id, (v ->> 'siteId')::BIGINT AS site_id,
       ${money('units')} AS price, ${money('unitsBefore')} AS previous_price, ${time('changedAt')} AS price_changed_at,
       v ->> 'currency' AS currency, ${time('firstSeenAt')} AS first_seen_at, ${time('removedAt')} AS removed_at,
       ${time('goneAt')} AS gone_at, removed_at IS NULL AND gone_at IS NULL AS is_listed, 'r1' AS run_id
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [JSON.stringify(items)],
  );
  const past = items.flatMap((item) => item.past.map((change) => ({ ...change, itemId: item.itemId })));
  await db.run(
    `INSERT INTO history BY NAME
     SELECT (v ->> 'changeId')::BIGINT AS change_id, (v ->> 'itemId')::BIGINT AS item_id, v ->> 'kind' AS kind,
       ${time('at')} AS observed_at, timezone('UTC', observed_at)::DATE AS observed_date,
       ${money('units')} AS price, ${money('unitsBefore')} AS previous_price, v ->> 'currency' AS currency,
       CASE coalesce(CASE WHEN (v ->> 'currencyBefore') IS NOT NULL THEN 'currency' END, v ->> 'names')
         WHEN 'currency' THEN '{"currency":["' || (v ->> 'currencyBefore') || '","' || (v ->> 'currency') || '"]}'
         WHEN 'price' THEN '{"price":[' || coalesce(previous_price::VARCHAR, 'null') || ',' || coalesce(price::VARCHAR, 'null') || ']}'
         WHEN 'attribute' THEN '{"price":[null,true]}'
         ELSE '{"title":["price","b"]}'
       END AS changes,
       v ->> 'origin' AS origin, coalesce(v ->> 'runId', 'r1') AS run_id
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [JSON.stringify(past)],
  );
  await db.run(`INSERT INTO sites BY NAME
    SELECT id AS site_id, CASE WHEN id % 2 = 0 THEN 'CC BY ' || id % 4 END AS attribution, true AS is_current
    FROM range(1, 5) t(id)`);
}

/** The license text that `loadHistoryWorld` gives a website. */
export function creditOf(siteId: bigint): string | null {
  return siteId % 2n === 0n ? `CC BY ${siteId % 4n}` : null;
}

/**
 * The price of an item at the end of a day (0 is the day of START) and its currency, the obvious way; null when it was
 * not listed then, or had no price.
 */
export function findPastPrice(item: PastItem, day: number): { units: number; currency: string } | null {
  return findPriceBefore(item, (day + 1) * DAY);
}

/** The same just before an instant. */
export function findPriceBefore(item: PastItem, end: number): { units: number; currency: string } | null {
  const told = listTold(item);
  const later = told.filter(({ at }) => at >= end);
  const last = told.filter(({ at }) => at < end).at(-1);
  if (last === undefined && item.firstSeenAt !== null && item.firstSeenAt >= end) return null;
  if (last !== undefined && !isListing(last, told, item)) return null;
  if (last === undefined && isFirstListing(later)) return null;
  const state = last !== undefined && !last.isFoundLater ? last : lookBack(item, later, last);
  const currency = state.currency ?? item.currency;
  if (state.units === null || state.units <= 0 || currency === null) return null;
  return { units: state.units, currency };
}

/** The price and currency before the next change that names one, or the current ones. */
function lookBack(item: PastItem, later: Told[], last: Told | undefined) {
  const [next] = later;
  const known = later.find(({ unitsBefore }) => unitsBefore !== undefined);
  const units = next?.isFirst ? null : known === undefined ? item.units : (known.unitsBefore as number | null);
  return { units, currency: last?.currency ?? next?.currencyBefore ?? null };
}

const FIRST = ['NEW', 'RELISTED'];

/** The first that is known of it is a listing; its own row's last price change beside tells of none. */
function isFirstListing(told: Told[]): boolean {
  const [first, second] = told;
  return first?.kind === 'PRICE' && second?.isFirst === true;
}

/** False if values change while the item is not listed. */
function isListing(step: Told, told: Told[], item: PastItem): boolean {
  if (step.kind !== 'CHANGED' && step.kind !== 'PRICE') return true;
  const at = told.indexOf(step);
  const isOfListing = ({ kind }: Told) => kind === 'REMOVED' || FIRST.includes(kind);
  const before = told.slice(0, at).findLast(isOfListing);
  const after = told.slice(at + 1).find(isOfListing);
  if (before === undefined) return !(step.kind === 'PRICE' && told[at + 1]?.isFirst === true);
  if (before.kind !== 'REMOVED') return true;
  return after === undefined ? (item.removedAt ?? item.goneAt) === null : after.kind === 'REMOVED';
}

/** What tells a price or a listing, in order: the price that it left, and the one before it (undefined: not told). */
interface Told {
  kind: PastChange['kind'] | 'PRICE';
  at: number;
  order: number;
  units: number | null;
  unitsBefore: number | null | undefined;
  currency: string | null;
  currencyBefore: string | null;
  isFoundLater: boolean;
  /** There was no offer before. */
  isFirst: boolean;
}

function listTold(item: PastItem): Told[] {
  const told: Told[] = [];
  for (const change of item.past) {
    const { kind, units, unitsBefore, currency, at, names, origin, changeId } = change;
    if (kind === 'CHANGED' && units === null && unitsBefore === null) continue;
    const isFirstPrice = unitsBefore === null && units !== null && names === 'price';
    const before = unitsBefore ?? (isFirstPrice ? null : (units ?? undefined));
    told.push({
      kind,
      at,
      order: changeId ?? KINDS.indexOf(kind) - 4,
      units: kind === 'REMOVED' ? null : units,
      unitsBefore: kind === 'CHANGED' ? (before ?? null) : before,
      currency,
      currencyBefore: currency,
      isFoundLater: kind === 'NEW' && origin === 'diff',
      isFirst: FIRST.includes(kind),
    });
  }
  const { currency, units } = item;
  const own = { currency, currencyBefore: currency, isFoundLater: false, isFirst: false };
  if (item.changedAt !== null) {
    told.push({ ...own, kind: 'PRICE', order: -9, at: item.changedAt, units, unitsBefore: item.unitsBefore });
  }
  const removedAt = item.removedAt ?? item.goneAt;
  if (removedAt !== null) {
    told.push({ ...own, kind: 'REMOVED', order: Infinity, at: removedAt, units: null, unitsBefore: units });
  }
  return told.sort((a, b) => a.at - b.at || a.order - b.order);
}
