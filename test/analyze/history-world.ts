import fc from 'fast-check';
import type { Database } from '../../src/duckdb/connection.js';
import { quoteIdentifier } from '../../src/duckdb/quote.js';
import type { TableName } from '../../src/model.js';
import { loadTableSchema } from '../../src/schemas.js';

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
  /** `changes` names the price. */
  namesPrice: boolean;
  origin: 'feed' | 'diff';
  /** Run that wrote it; r1 without one. */
  runId?: string;
}

/** A listing as it is now, and what is known of its past. */
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

/** Any history, also one with gaps and contradictions: what is made of it must be the same however it is computed. */
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
    namesPrice: fc.boolean(),
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
  for (const table of ['items', 'history', 'sites'] as const) await createEmpty(db, table);
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
       CASE WHEN (v ->> 'namesPrice')::BOOLEAN THEN '{"price":[1,2]}' ELSE '{"title":["price","b"]}' END AS changes,
       v ->> 'origin' AS origin, coalesce(v ->> 'runId', 'r1') AS run_id
     FROM (SELECT unnest(from_json($1, '["JSON"]')) AS v)`,
    [JSON.stringify(past)],
  );
  await db.run(`INSERT INTO sites BY NAME
    SELECT id AS site_id, CASE WHEN id % 2 = 0 THEN 'CC BY ' || id % 4 END AS attribution, true AS is_current
    FROM range(1, 5) t(id)`);
}

async function createEmpty(db: Database, table: TableName): Promise<void> {
  const columns = loadTableSchema(table).columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`);
  await db.run(`CREATE OR REPLACE TEMP TABLE ${table} (${columns.join(', ')})`);
}

/** The licence text that `loadHistoryWorld` gives a website. */
export function creditOf(siteId: bigint): string | null {
  return siteId % 2n === 0n ? `CC BY ${siteId % 4n}` : null;
}

/**
 * The price of an item at the end of a day (0 is the day of START) and its currency, the obvious way; null when it was
 * not listed then, or had no price.
 */
export function findPastPrice(item: PastItem, day: number): { units: number; currency: string } | null {
  const end = (day + 1) * DAY;
  const told = listTold(item);
  const last = told.filter(({ at }) => at < end).at(-1);
  const next = told.find(({ at }) => at >= end);
  let state: { units: number | null; currency: string | null } = item;
  if (last !== undefined && !last.isFoundLater) state = last;
  else if (next !== undefined) state = { units: next.unitsBefore, currency: last?.currency ?? next.currency };
  else if (last !== undefined) state = { units: item.units, currency: last.currency };
  if (last === undefined && item.firstSeenAt !== null && item.firstSeenAt >= end) return null;
  const currency = state.currency ?? item.currency;
  if (state.units === null || state.units <= 0 || currency === null) return null;
  return { units: state.units, currency };
}

/** What tells a price or a listing, in order: the price that it left, and the one before it. */
interface Told {
  at: number;
  order: number;
  units: number | null;
  unitsBefore: number | null;
  currency: string | null;
  isFoundLater: boolean;
}

function listTold(item: PastItem): Told[] {
  const told: Told[] = [];
  for (const change of item.past) {
    const { kind, units, unitsBefore, currency, at, namesPrice, origin, changeId } = change;
    if (kind === 'CHANGED' && units === null && unitsBefore === null) continue;
    let before: number | null = null;
    if (kind === 'CHANGED' || kind === 'REMOVED') {
      before = unitsBefore ?? (kind === 'CHANGED' && namesPrice ? null : units);
    }
    const isFoundLater = kind === 'NEW' && origin === 'diff';
    const left = kind === 'REMOVED' ? null : units;
    told.push({
      at,
      order: changeId ?? KINDS.indexOf(kind) - 4,
      units: left,
      unitsBefore: before,
      currency,
      isFoundLater,
    });
  }
  const own = { currency: item.currency, isFoundLater: false };
  if (item.changedAt !== null) {
    told.push({ ...own, order: -9, at: item.changedAt, units: item.units, unitsBefore: item.unitsBefore });
  }
  const removedAt = item.removedAt ?? item.goneAt;
  if (removedAt !== null) told.push({ ...own, order: Infinity, at: removedAt, units: null, unitsBefore: item.units });
  return told.sort((a, b) => a.at - b.at || a.order - b.order);
}
