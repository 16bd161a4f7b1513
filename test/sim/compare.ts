/** The lake against the world, value by value. */
import { expect } from 'vitest';
import { viewDatasets } from './endpoints.js';
import type { LakeRows, TextRow } from './lake-rows.js';
import { describeChange, describeItem, sortedJson } from './truth.js';
import type { Change, Item, World } from './world.js';

/** Times that an item and its change may tell apart: the feed tells observedAt only (see expectItems). */
const OBSERVED = ['last_changed_at', 'price_changed_at'];

function pickColumns(row: TextRow, like: TextRow): TextRow {
  return Object.fromEntries(Object.keys(like).map((name) => [name, row[name] ?? null]));
}

function readExtra(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  return JSON.stringify(
    Object.values(JSON.parse(text) as object)
      .map((value) => JSON.stringify(value))
      .sort(),
  );
}

/**
 * Every visible item stands in the lake as `/items/{id}` shows it. Left out are items with changes behind `cursor`:
 * the feed has not told of them yet. What the lake can't know, each by name:
 * - last_seen_at moves without a change: the lake's may be older.
 * - with a skew, last_changed_at and price_changed_at of a change that is told whole may be its observedAt.
 * - a site's name is known when a row has shown it: checked when `settled`.
 */
export function expectItems(world: World, lake: LakeRows, cursor: bigint | null, settled: boolean): void {
  const told = world.changes.filter((change) => cursor !== null && change.id > cursor);
  const ahead = new Set(told.map((change) => change.itemId));
  const rows = new Map(lake.items.map((row) => [row.item_id, row]));
  expect(rows.size).toBe(lake.items.length);
  for (const item of world.visibleItems().filter(world.isCopied)) {
    if (ahead.has(item.id)) continue;
    const truth = describeItem(world, item);
    const row = rows.get(String(item.id));
    if (row === undefined) throw new Error(`item ${item.id} is missing`);
    expect(BigInt(row.last_seen_at ?? 0)).toBeLessThanOrEqual(item.lastSeenAt / 1000n + BigInt(maxSkew(world)));
    const copy = pickColumns(row, truth);
    copy.attributes = sortedJson(JSON.parse(row.attributes ?? 'null'));
    copy.extra = readExtra(row.extra);
    for (const name of OBSERVED) {
      const skewed = String(BigInt(truth[name] ?? 0) + BigInt(world.habits.skewMs) * 1000n);
      if (copy[name] === skewed) copy[name] = truth[name] ?? null;
    }
    if (!settled) copy.site_name = truth.site_name ?? null;
    expect(copy).toEqual(truth);
  }
  const hidden = [...world.items.values()].filter((item) => item.sight === 'hidden' || !world.isCopied(item));
  const unseen = hidden.map((item) => String(item.id));
  expect(unseen.filter((id) => rows.has(id))).toEqual([]);
}

const maxSkew = (world: World) => Math.max(0, world.habits.skewMs) * 1000;

/** Every change of the feed up to the cursor once, in order; its item is null when it was gone by then. */
export function expectHistory(world: World, lake: LakeRows, cursor: bigint): void {
  const isCopied = ({ itemId }: Change) => world.isCopied(world.items.get(itemId) as Item);
  const told = world.changes.filter((change) => change.id <= cursor && isCopied(change));
  expect(lake.history.map((row) => row.change_id)).toEqual(told.map((change) => String(change.id)));
  told.forEach((change: Change, index) => {
    const truth = describeChange(world, change);
    const row = lake.history[index] as TextRow;
    const copy = pickColumns(row, truth);
    copy.changes = sortedJson(JSON.parse(row.changes ?? 'null'));
    if (world.items.get(change.itemId)?.sight === 'gone') {
      expect([null, String(change.itemId)]).toContain(row.item_id);
      if (row.item_id === null) copy.currency = truth.currency ?? null;
    } else expect(row.item_id).toBe(String(change.itemId));
    expect(copy).toEqual(truth);
  });
}

/** The current row of each website is the service's, and what held before joins on without a gap. */
export function expectSites(world: World, lake: LakeRows): void {
  for (const site of world.sites.values()) {
    const rows = lake.sites.filter((row) => row.site_id === String(site.id));
    expect(rows.filter((row) => row.is_current === 'true')).toMatchObject([
      { name: site.name, host: site.host, attribution: site.attribution, valid_to: null },
    ]);
    rows.slice(1).forEach((row, index) => {
      expect(rows[index]).toMatchObject({ valid_to: row.valid_from, is_current: 'false' });
      expect(BigInt(row.valid_from ?? 0)).toBeGreaterThan(BigInt(rows[index]?.valid_from ?? 0));
    });
  }
}

/** Datasets as the service describes them now. */
export function expectDatasets(world: World, lake: LakeRows): void {
  const truth = (viewDatasets(world) as Record<string, unknown>[]).map((dataset) => [
    String(dataset.id),
    dataset.name,
    dataset.description,
    String(dataset.items),
    String(dataset.sites),
  ]);
  expect(lake.datasets.map((row) => [row.dataset_id, row.name, row.description, row.items, row.sites])).toEqual(truth);
}

/** Offers and shops of every product, counted over the lake's items by hand. */
export function expectProducts(lake: LakeRows): void {
  const offers = new Map<string, string[]>();
  for (const { product_id: product, is_listed: listed, site_id: site } of lake.items) {
    if (listed === 'true' && product) offers.set(product, [...(offers.get(product) ?? []), site ?? '']);
  }
  const counted = [...offers].map(([product, sites]) => `${product}: ${sites.length} in ${new Set(sites).size}`);
  const derived = lake.products.map((row) => `${row.product_id}: ${row.offers} in ${row.shops}`);
  expect(derived.sort()).toEqual(counted.sort());
}

/** Rows received are rows written, rejected and deduplicated, in every run; nothing was rejected. */
export function expectLedger(lake: LakeRows): void {
  for (const row of lake.runs) {
    const [received, written, rejected, deduplicated] = [row.received, row.written, row.rejected, row.deduplicated].map(
      (value) => BigInt(value ?? 0),
    );
    expect(rejected).toBe(0n);
    expect(received).toBe((written ?? 0n) + (deduplicated ?? 0n));
  }
}
