/** Endpoints of the API document, section 4, over the world: path and query → body. */
import { type Account, viewPlan } from './account.js';
import { viewProductPage } from './products.js';
import { findChangeTime, isAsked, selectItems } from './select-items.js';
import { isBadChange, nameChanges, nameKind, viewChange, viewItem, writeTime } from './views.js';
import { Money, type Wire } from './wire-json.js';
import type { Change, Item, View, World } from './world.js';

/** An answer of JSON: status and body. */
export interface JsonAnswer {
  status: number;
  body: Wire;
}

const ok = (body: Wire): JsonAnswer => ({ status: 200, body });

export function refuse(status: number, message: string, more: Record<string, Wire> = {}): JsonAnswer {
  const body = { status, error: 'Refused', message, docsUrl: 'https://docs.example/errors', ...more };
  return { status, body };
}

export function answerJson(account: Account, path: string, query: URLSearchParams): JsonAnswer {
  const { world } = account;
  const unknown = refuseDataset(world, query) ?? refuseSince(world, query);
  if (unknown !== undefined) return unknown;
  if (path === '/plan') return ok(viewPlan(account));
  if (path === '/datasets') return ok(viewDatasets(world, account.view('facets')));
  if (path === '/changes') return answerFeed(account, query);
  if (path === '/changes/recent') return answerRecent(world, query);
  if (path === '/facets') return ok(viewFacets(world, account.view('facets'), query));
  if (path === '/items') return ok(viewItemPage(world, account.view('items'), query));
  if (path === '/products') return ok(viewProductPage(world, account.view('products'), query));
  const [, id = '', rest] = /^\/items\/(\d+)(\/history)?$/.exec(path) ?? [];
  const view = account.view('single');
  const item = id === '' ? undefined : view.item(BigInt(id));
  if (item?.sight !== 'visible') return refuse(404, `nothing here: ${path}`);
  return ok(rest === undefined ? viewItem(world.habits, view, item) : viewHistory(world, item));
}

/** "No such dataset" is told for /facets alone; what other endpoints answer is left open. */
export function refuseDataset({ habits, datasets }: World, query: URLSearchParams): JsonAnswer | undefined {
  const id = query.get('dataset');
  if (id === null || (Number(id) >= 1 && Number(id) <= datasets.length)) return undefined;
  if (habits.unknownDataset === 'empty page') return undefined;
  return refuse(Number(habits.unknownDataset), `no dataset ${id}`);
}

/** A date-time with more digits than the service reads. */
export function refuseSince({ habits }: World, query: URLSearchParams): JsonAnswer | undefined {
  const isTooFine = habits.sinceDigits === 'three' && /\.\d{4,}/.test(query.get('changedSince') ?? '');
  return isTooFine ? refuse(400, 'changedSince is not a date-time') : undefined;
}

const NO_FEED = { limit: 'changeFeed', allowed: false, plan: 'free', upgradeUrl: 'https://shop.example' };

function answerFeed(account: Account, query: URLSearchParams): JsonAnswer {
  const { world } = account;
  if (!world.habits.feed) return refuse(402, 'no feed', NO_FEED);
  const refusal = refuseOldCursor(world, BigInt(query.get('after') ?? '0'));
  return refusal ?? ok(viewFeedPage(account, query));
}

/** A cursor with changes behind it that the history does not reach any more. */
function refuseOldCursor(world: World, after: bigint): JsonAnswer | undefined {
  const { oldCursor } = world.habits;
  if (after === 0n || (oldCursor !== '400' && oldCursor !== '410')) return undefined;
  const start = world.historyStart();
  if (!world.changes.some((change) => change.id > after && change.observedAt < start)) return undefined;
  return refuse(Number(oldCursor), 'after: the cursor is older than the history');
}

function answerRecent(world: World, query: URLSearchParams): JsonAnswer {
  const { feed, recentOnFree } = world.habits;
  if (feed || recentOnFree === '200') return ok(viewRecentPage(world, query));
  return recentOnFree === '404' ? refuse(404, 'not here') : refuse(402, 'no feed', NO_FEED);
}

/** The feed as far as it shows, of the dataset that is asked for. */
function readFeed(world: World, query: URLSearchParams): Change[] {
  const isOfIt = isAsked(world, query);
  return world.feed().filter((change) => isOfIt(world.items.get(change.itemId)));
}

export function viewDatasets(world: World, view: View): Wire[] {
  return world.datasets.map((name, index) => {
    const items = view.items.filter((item) => item.removedAt === null && item.datasets.includes(name));
    return {
      id: BigInt(index + 1),
      name,
      description: index === 0 ? null : 'Tools & more',
      items: items.length,
      sites: new Set(items.map((item) => item.siteId)).size,
      models: 4,
      healthyModels: 3,
      newestScrapeAt: writeTime(view.now, world.habits),
      oldestScrapeAt: null,
    };
  });
}

function viewFeedPage({ world, delivered }: Account, query: URLSearchParams): Wire {
  const { habits } = world;
  const after = BigInt(query.get('after') ?? '0');
  const limit = Number(query.get('limit') ?? 500);
  const start = after === 0n || habits.oldCursor !== 'goes on' ? world.historyStart() : 0n;
  const isBehind = (change: Change) => change.id > after && change.observedAt >= start;
  const behind = world.feed().filter(isBehind);
  const scanned = behind.slice(0, habits.scannedChanges ?? behind.length);
  const isOfIt = isAsked(world, query);
  const waiting = scanned.filter((change) => isOfIt(world.items.get(change.itemId)));
  const page = waiting.slice(0, habits.shortPages ? Math.min(limit, 1 + (waiting.length % 37)) : limit);
  for (const change of page) if (!isBadChange(habits, change)) delivered.add(change.id);
  const isScanned = page.length === waiting.length;
  const isMore = !isScanned || scanned.length < behind.length;
  const isDenied = habits.deniesMore && page.length > 0;
  const hasMore = !isDenied && (isMore || (habits.emptyLastPage && page.length > 0));
  const newest = habits.idleCursor === 'newest' ? (world.feed().at(-1)?.id ?? 0n) : after;
  const end = page.at(-1)?.id ?? (newest > after ? newest : after);
  const nextCursor = isScanned && isMore ? (scanned.at(-1)?.id ?? end) : end;
  const isLeftOut = habits.lastCursor === 'null' && !hasMore;
  return {
    changes: page.map((change) => viewChange(world, change)),
    hasMore,
    nextCursor: isLeftOut ? null : nextCursor,
  };
}

function viewRecentPage(world: World, query: URLSearchParams): Wire {
  const before = BigInt(query.get('before') ?? String(2n ** 63n - 1n));
  const limit = Number(query.get('limit') ?? 50);
  const waiting = readFeed(world, query)
    .filter((change) => change.id < before)
    .reverse();
  const page = waiting.slice(0, limit);
  return {
    changes: page.map((change) => viewChange(world, change)),
    hasMore: waiting.length > page.length,
    nextCursor: page.at(-1)?.id ?? 0n,
  };
}

function viewFacets(world: World, view: View, query: URLSearchParams): Wire {
  const isOfIt = isAsked(world, query);
  const listed = view.items.filter((item) => item.removedAt === null && isOfIt(item));
  const isShown = (facet: { items: number }) => facet.items > 0 || world.habits.facetZeros === 'shown';
  const count = (isIn: (item: Item) => boolean) => listed.filter(isIn).length;
  const sites = view
    .sites()
    .map(({ id, name, host }) => ({ id, name, host, items: count((item) => item.siteId === id) }))
    .filter(isShown);
  const currencies = ['EUR', 'CZK']
    .map((code) => ({ code, items: count((item) => item.currency === code) }))
    .filter(isShown);
  // Subcategories are counted in.
  const kitchen = count((item) => item.category?.slug === 'kueche');
  const all = count((item) => item.category !== null);
  const categories = [
    { id: 1, name: 'Haus', slug: 'haus', path: 'Haus', parentId: null, items: all },
    { id: 2, name: 'Küche', slug: 'kueche', path: 'Haus > Küche', parentId: 1, items: kitchen },
  ].filter(isShown);
  return { categories, currencies, sites };
}

const ORDER: Record<string, (item: Item, world: World) => bigint> = {
  '-lastChanged': (item, world) => -findChangeTime(world, item),
  '-lastSeen': (item) => -item.lastSeenAt,
  '-firstSeen': (item) => -item.firstSeenAt,
};

function viewItemPage(world: World, view: View, query: URLSearchParams): Wire {
  const order = ORDER[query.get('sort') ?? '-lastChanged'] ?? ((item: Item) => item.id);
  const key = (item: Item) => order(item, world);
  const items = selectItems(world, view, query).sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  const size = Number(query.get('size') ?? 50);
  const page = Number(query.get('page') ?? 0);
  // Items that came since the first page push the others on: some appear on two pages.
  const start = Math.max(0, page * size - (world.habits.moving && page > 0 ? 3 : 0));
  return {
    content: items.slice(start, start + size).map((item) => viewItem(world.habits, view, item)),
    page,
    size,
    totalElements: items.length,
    totalPages: Math.ceil(items.length / size),
  };
}

function viewHistory(world: World, item: Item): Wire {
  const start = world.historyStart();
  return world
    .feed()
    .filter((change) => change.itemId === item.id && change.observedAt >= start)
    .map((change) => ({
      id: change.id,
      kind: nameKind(change, world.habits),
      observedAt: writeTime(change.observedAt, world.habits),
      price: change.price === null ? null : new Money(change.price),
      previousPrice: change.previousPrice === null ? null : new Money(change.previousPrice),
      changes: nameChanges(change, world.habits),
    }));
}
