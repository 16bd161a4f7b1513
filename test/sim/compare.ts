/** The lake against the world, value by value. What is wrong is said in two parts: a line that many seeds may share, and where. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { viewDatasets } from './endpoints.js';
import type { LakeRows, TextRow } from './lake-rows.js';
import type { Service } from './service.js';
import { describeChange, describeItem, sortedJson } from './truth.js';
import { isUnnamed } from './views.js';
import type { Change, Item, World } from './world.js';

const SHOWN = 8;

/** The lake is not what it should be. The first line of the message names no item: seeds are grouped by it. */
export class Mismatch extends Error {
  constructor(what: string, where: readonly string[]) {
    const more = where.length > SHOWN ? [`and ${where.length - SHOWN} more`] : [];
    super([what, ...where.slice(0, SHOWN), ...more].join('\n  '));
    this.name = 'Mismatch';
  }
}

function refuse(what: string, where: readonly string[]): void {
  if (where.length > 0) throw new Mismatch(what, where);
}

/** Times that an item and its change may tell apart: the feed tells observedAt only (see findStale). */
const OBSERVED = ['last_changed_at', 'price_changed_at'];

function readExtra(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  return JSON.stringify(
    Object.values(JSON.parse(text) as object)
      .map(String)
      .sort(),
  );
}

export interface ItemExpectation {
  /** The feed has told up to here; null: everything counts. */
  cursor: bigint | null;
  /** Nothing moves any more, and everything that happened may be known. */
  settled: boolean;
  /** Items that no change could tell of are left out: they left the data, or came back. */
  withoutLeft: boolean;
}

/**
 * Every visible item stands in the lake as `/items/{id}` shows it. Left out are items with changes behind the cursor:
 * the feed has not told of them yet. What the lake can't know, each by name:
 * - last_seen_at moves without a change: the lake's may be older.
 * - with a skew, last_changed_at and price_changed_at may be an observedAt of the item, later by the skew at most.
 * - a site's name is known when a row has shown it, a dataset's when the run had news: checked when `settled`.
 */
export function expectItems(world: World, lake: LakeRows, expectation: ItemExpectation): void {
  const { cursor, settled, withoutLeft } = expectation;
  const told = world.changes.filter((change) => cursor !== null && change.id > cursor);
  const ahead = new Set(told.map((change) => change.itemId));
  const rows = new Map(lake.items.map((row) => [row.item_id, row]));
  if (rows.size !== lake.items.length) throw new Mismatch('items are in the lake twice', []);
  const missing: string[] = [];
  const wrong = new Set<string>();
  const details: string[] = [];
  for (const item of world.visibleItems().filter(world.isCopied)) {
    if (ahead.has(item.id) || (withoutLeft && item.hasLeft)) continue;
    const row = rows.get(String(item.id));
    // No list shows a removed item again after it was gone, and no change needs to name it.
    const isUnseen = world.habits.removedItems === 'none' && item.removedAt !== null;
    if (isUnseen && (row === undefined || row.gone_at !== null)) continue;
    if (row === undefined) {
      missing.push(`item ${item.id}`);
      continue;
    }
    for (const { name, copy, truth } of compareItem(world, item, row)) {
      if (!settled && ['site_name', 'site_host', 'datasets'].includes(name)) continue;
      wrong.add(name);
      details.push(`item ${item.id}: ${name} is ${copy}, and ${truth} in the world`);
    }
  }
  refuse('items are missing', missing);
  refuse(`items are stale in ${[...wrong].sort().join(', ')}`, details);
  const left = [...world.items.values()].filter((item) => !withoutLeft && item.sight === 'gone');
  refuse(
    'items that left are listed',
    left.filter(({ id }) => rows.get(String(id))?.is_listed === 'true').map(({ id }) => `item ${id}`),
  );
  const hidden = [...world.items.values()].filter((item) => item.sight === 'hidden' || !world.isCopied(item));
  refuse(
    'items are in the lake that nobody can see',
    hidden.filter((item) => rows.has(String(item.id))).map((item) => `item ${item.id}`),
  );
}

/** True for a time of the feed that may stand for the item's own: later by the skew at most, cut as timestamps are. */
function isObserved({ habits }: World, copy: string | null, truth: string | null): boolean {
  if (copy === null || truth === null) return false;
  const unit = 10n ** BigInt(Math.max(0, 6 - habits.fraction));
  const skew = BigInt(habits.skewMs) * 1000n;
  const latest = ((BigInt(truth) + skew) / unit) * unit;
  const earliest = skew < 0n ? latest : BigInt(truth);
  return BigInt(copy) >= earliest && BigInt(copy) <= (skew < 0n ? BigInt(truth) : latest);
}

function compareItem(world: World, item: Item, row: TextRow) {
  const truth = describeItem(world, item);
  const copy: TextRow = Object.fromEntries(Object.keys(truth).map((name) => [name, row[name] ?? null]));
  copy.attributes = sortedJson(JSON.parse(row.attributes ?? 'null'));
  copy.extra = readExtra(row.extra);
  if (copy.datasets === null) copy.datasets = '[]'; // CSV can't tell an empty list from none
  for (const name of OBSERVED) {
    if (isObserved(world, copy[name] ?? null, truth[name] ?? null)) copy[name] = truth[name] ?? null;
  }
  const wrong = Object.keys(truth)
    .filter((name) => copy[name] !== truth[name])
    .map((name) => ({ name, copy: copy[name], truth: truth[name] }));
  const latest = item.lastSeenAt / 1000n + BigInt(Math.max(0, world.habits.skewMs) * 1000);
  if (BigInt(row.last_seen_at ?? 0) > latest) {
    wrong.push({ name: 'last_seen_at', copy: row.last_seen_at ?? null, truth: `at most ${latest}` });
  }
  return wrong;
}

/**
 * Every change that a feed delivered once, ahead of the common cursor or not; its item is null when it was gone by then.
 */
export function expectHistory(world: World, lake: LakeRows, { delivered }: Pick<Service, 'delivered'>) {
  const isCopied = ({ itemId }: Change) => world.isCopied(world.items.get(itemId) as Item);
  const told = world.changes.filter(({ id }) => delivered.has(id)).filter(isCopied);
  const rows = lake.history.filter((row) => row.change_id !== null);
  const counts = new Map<string | null, number>();
  for (const { change_id: id = null } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  const describe = (change: Change) => `change ${change.id} ${change.kind} of item ${change.itemId}`;
  refuse('events are missing in history', told.filter(({ id }) => !counts.has(String(id))).map(describe));
  refuse('events are in history twice', told.filter(({ id }) => (counts.get(String(id)) ?? 0) > 1).map(describe));
  const ids = new Set(told.map(({ id }) => String(id)));
  refuse(
    'history has events that the feed did not tell of',
    rows.filter((row) => !ids.has(row.change_id ?? '')).map((row) => `change ${row.change_id} ${row.kind}`),
  );
  const byId = new Map(rows.map((row) => [row.change_id, row]));
  const wrong = new Set<string>();
  const details: string[] = [];
  for (const change of told) {
    for (const { name, copy, truth } of compareChange(world, change, byId.get(String(change.id)) as TextRow)) {
      wrong.add(name);
      details.push(`${describe(change)}: ${name} is ${copy}, and ${truth} in the world`);
    }
  }
  refuse(`events are wrong in ${[...wrong].sort().join(', ')}`, details);
}

/** An event that the feed reported stands in history once: no row of origin diff remains beside it. */
export function expectNoDoubles(world: World, lake: LakeRows, { delivered }: Pick<Service, 'delivered'>): void {
  const isUntold = (change: Change) => !delivered.has(change.id) || isUnnamed(world.habits, change);
  const undelivered = new Set(world.changes.filter(isUntold).map(({ itemId }) => itemId));
  const doubles = lake.history.filter((row) => {
    const item = row.change_id === null ? world.items.get(BigInt(row.item_id ?? 0)) : undefined;
    return item !== undefined && !item.hasLeft && !undelivered.has(item.id);
  });
  const kinds = [...new Set(doubles.map(({ kind }) => kind))].sort().join(', ');
  refuse(
    `events of the feed stand beside a diff row of kind ${kinds}`,
    doubles.map((row) => `item ${row.item_id}: ${row.kind} at ${row.observed_at}, ${row.changes}`),
  );
}

function compareChange(world: World, change: Change, row: TextRow) {
  const truth = describeChange(world, change);
  const copy: TextRow = Object.fromEntries(Object.keys(truth).map((name) => [name, row[name] ?? null]));
  copy.changes = sortedJson(JSON.parse(row.changes ?? 'null'));
  const mayBeUnnamed = world.items.get(change.itemId)?.hasLeft === true || isUnnamed(world.habits, change);
  const isNameless = mayBeUnnamed && row.item_id === null;
  if (isNameless) copy.currency = truth.currency ?? null;
  const named = { ...copy, item_id: isNameless ? String(change.itemId) : (row.item_id ?? null) };
  const wanted: TextRow = { ...truth, item_id: String(change.itemId) };
  return Object.entries(named)
    .filter(([name, value]) => value !== wanted[name])
    .map(([name, value]) => ({ name, copy: value, truth: wanted[name] }));
}

/** The current row of each website with items is the service's, and what held before joins on without a gap. */
export function expectSites(world: World, lake: LakeRows): void {
  const shown = world.visibleItems().filter((item) => world.isCopied(item) && !item.hasLeft);
  const ids = new Set(shown.map(({ siteId }) => siteId));
  const wrong: string[] = [];
  const broken: string[] = [];
  for (const site of [...world.sites.values()].filter(({ id }) => ids.has(id))) {
    const rows = lake.sites.filter((row) => row.site_id === String(site.id));
    const current = rows.filter((row) => row.is_current === 'true');
    const truth = JSON.stringify([site.name, site.host, site.attribution, null]);
    const copies = current.map((row) => JSON.stringify([row.name, row.host, row.attribution, row.valid_to]));
    if (copies.join() !== truth) wrong.push(`site ${site.id} is ${copies.join(' and ')}, and ${truth} in the world`);
    rows.slice(1).forEach((row, index) => {
      const before = rows[index] as TextRow;
      const joins = before.valid_to === row.valid_from && before.is_current === 'false';
      if (!joins || BigInt(row.valid_from ?? 0) <= BigInt(before.valid_from ?? 0)) broken.push(`site ${site.id}`);
    });
  }
  refuse('websites are stale', wrong);
  refuse('websites have a history with gaps', broken);
}

/** Datasets as the service describes them now. */
export function expectDatasets(world: World, lake: LakeRows): void {
  const truth = viewDatasets(world, world.asOf(0)) as Record<string, unknown>[];
  const list = (rows: Record<string, unknown>[], id: string) =>
    rows.map((row) => [row[id], row.name, row.description, row.items, row.sites].map(String).join(' · '));
  const copies = list(lake.datasets, 'dataset_id');
  const wanted = list(truth, 'id');
  if (copies.join() !== wanted.join()) throw new Mismatch('datasets are stale', [...copies, 'in the world', ...wanted]);
}

/** Offers and shops of every product, counted over the lake's items by hand. */
export function expectProducts(lake: LakeRows): void {
  const offers = new Map<string, string[]>();
  for (const { product_id: product, is_listed: listed, site_id: site } of lake.items) {
    if (listed === 'true' && product) offers.set(product, [...(offers.get(product) ?? []), site ?? '']);
  }
  const counted = [...offers].map(([product, sites]) => `${product}: ${sites.length} in ${new Set(sites).size}`);
  const derived = new Set(lake.products.map((row) => `${row.product_id}: ${row.offers} in ${row.shops}`));
  refuse(
    'products do not follow from items',
    counted.filter((product) => !derived.delete(product)).concat([...derived].map((product) => `${product} too much`)),
  );
}

/** Rows received are rows written, rejected and deduplicated, in every run; nothing is rejected without bad rows. */
export function expectLedger(lake: LakeRows, { mayReject = false } = {}): void {
  const wrong = lake.runs.filter((row) => {
    const [received = 0n, written = 0n, rejected = 0n, deduplicated = 0n] = [
      ...[row.received, row.written, row.rejected, row.deduplicated].map((value) => BigInt(value ?? 0)),
    ];
    return (rejected !== 0n && !mayReject) || received !== written + rejected + deduplicated;
  });
  refuse(
    'rows of a run do not add up',
    wrong.map((row) => `run ${row.run_number}: ${row.received}, ${row.written}, ${row.rejected}, ${row.deduplicated}`),
  );
}

/** No closed day lies ahead of what the service's clock and the events tell. */
export function expectNoFutureDays(world: World, lake: LakeRows): void {
  const today = new Date(Number(world.now / 1_000_000n)).toISOString().slice(0, 10);
  const future = lake.price_spread_daily.filter(({ day }) => (day ?? '') >= today).map(({ day }) => String(day));
  refuse('price_spread_daily has days that are not over', [...new Set(future)]);
}

/** Whoever reads a lake on disk sees history ahead of items, never behind. */
export function refuseItemsAhead(lake: string, where: readonly string[] = []): void {
  const [items, history] = [readCursor(lake, 'items'), readCursor(lake, 'history')];
  if (items > history) throw new Mismatch('items are ahead of history', [`${items} > ${history}`, ...where]);
}

/** The cursor up to which the log says that a table is applied; -1 without one. */
function readCursor(lake: string, table: string): bigint {
  const log = path.join(lake, table, '_delta_log');
  const entries = existsSync(log) ? readdirSync(log).filter((name) => /^\d+\.json$/.test(name)) : [];
  const texts = entries.map((name) => readFileSync(path.join(log, name), 'utf8'));
  const cursors = texts.flatMap((text) => [...text.matchAll(/"appId":"pricelake\.cursor","version":(\d+)/g)]);
  let most = -1n;
  for (const [, cursor = ''] of cursors) if (BigInt(cursor) > most) most = BigInt(cursor);
  return most;
}
