/** Endpoints of the API document, section 4, over the world: path and query → body. */
import { nameChanges, viewChange, viewItem, writeTime } from './views.js';
import { Money, type Wire } from './wire-json.js';
import type { Change, Item, World } from './world.js';

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

export function answerJson(world: World, path: string, query: URLSearchParams): JsonAnswer {
  if (path === '/plan') return ok(viewPlan(world));
  if (path === '/datasets') return ok(viewDatasets(world));
  if (path === '/changes' && !world.habits.feed) {
    return refuse(402, 'no feed', {
      limit: 'changeFeed',
      allowed: false,
      plan: 'free',
      upgradeUrl: 'https://shop.example',
    });
  }
  if (path === '/changes') return ok(viewFeedPage(world, query));
  if (path === '/changes/recent') return ok(viewRecentPage(world, query));
  if (path === '/facets') return ok(viewFacets(world, query));
  if (path === '/items') return ok(viewItemPage(world, query));
  const [, id = '', rest] = /^\/items\/(\d+)(\/history)?$/.exec(path) ?? [];
  const item = id === '' ? undefined : world.items.get(BigInt(id));
  if (item?.sight !== 'visible') return refuse(404, `nothing here: ${path}`);
  return ok(rest === undefined ? viewItem(world, item) : viewHistory(world, item));
}

function viewPlan({ habits, now }: World): Wire {
  const rate = { null: { ratePerSecond: null }, absent: {}, fraction: { ratePerSecond: 12.5 } }[habits.rate];
  return {
    plan: 'pro',
    name: 'Pro',
    status: habits.rate === 'null' ? null : 'ACTIVE',
    trialEndsAt: null,
    limits: {
      datasets: 5,
      ...rate,
      exportRowsPerMonth: null,
      historyDays: 365,
      changeFeed: habits.feed,
      seats: 3,
      sso: true,
    },
    lockedDatasets: 0,
    upgradeUrl: 'https://shop.example/plans',
    usage:
      habits.rate === 'absent'
        ? null
        : { apiCalls: 5, exportRows: 100, resetsAt: writeTime(now + 10n ** 15n, { fraction: 0, utc: 'Z' }) },
  };
}

export const DATASETS = ['Garden', 'Tools'];

/** Whether an item is in the dataset that is asked for. */
function isAsked(query: URLSearchParams): (item: Item | undefined) => boolean {
  const id = query.get('dataset');
  return (item) => id === null || item?.datasets.includes(DATASETS[Number(id) - 1] ?? '') === true;
}

/** The feed as far as it shows, of the dataset that is asked for. */
function readFeed(world: World, query: URLSearchParams): Change[] {
  const isOfIt = isAsked(query);
  return world.feed().filter((change) => isOfIt(world.items.get(change.itemId)));
}

export function viewDatasets(world: World): Wire[] {
  return DATASETS.map((name, index) => {
    const items = world.visibleItems().filter((item) => item.removedAt === null && item.datasets.includes(name));
    return {
      id: BigInt(index + 1),
      name,
      description: index === 0 ? null : 'Tools & more',
      items: items.length,
      sites: new Set(items.map((item) => item.siteId)).size,
      models: 4,
      healthyModels: 3,
      newestScrapeAt: writeTime(world.now, world.habits),
      oldestScrapeAt: null,
    };
  });
}

function viewFeedPage(world: World, query: URLSearchParams): Wire {
  const { habits } = world;
  const after = BigInt(query.get('after') ?? '0');
  const limit = Number(query.get('limit') ?? 500);
  const waiting = readFeed(world, query).filter((change) => change.id > after);
  const page = waiting.slice(0, habits.shortPages ? Math.min(limit, 1 + (waiting.length % 37)) : limit);
  const nextCursor = page.at(-1)?.id ?? after;
  const hasMore = waiting.length > page.length || (habits.emptyLastPage && page.length > 0);
  return { changes: page.map((change) => viewChange(world, change)), hasMore, nextCursor };
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

function viewFacets(world: World, query: URLSearchParams): Wire {
  const listed = world.visibleItems().filter((item) => item.removedAt === null && isAsked(query)(item));
  const sites = [...world.sites.values()].map(({ id, name, host }) => ({
    id,
    name,
    host,
    items: listed.filter((item) => item.siteId === id).length,
  }));
  const currencies = ['EUR', 'CZK'].map((code) => ({
    code,
    items: listed.filter((item) => item.currency === code).length,
  }));
  // Subcategories are counted in.
  const items = listed.filter((item) => item.category !== null).length;
  const categories = [
    { id: 1, name: 'Haus', slug: 'haus', path: 'Haus', parentId: null, items },
    { id: 2, name: 'Küche', slug: 'kueche', path: 'Haus > Küche', parentId: 1, items },
  ];
  return { categories, currencies, sites };
}

/** Filters of `/items` and `/export`. */
export function selectItems(world: World, query: URLSearchParams): Item[] {
  const status = query.get('status') ?? 'active';
  const since = query.get('changedSince');
  const site = query.get('site');
  const isOfIt = isAsked(query);
  return world.visibleItems().filter((item) => {
    if (!isOfIt(item)) return false;
    if (status === 'active' && item.removedAt !== null) return false;
    if (status === 'removed' && item.removedAt === null) return false;
    if (site !== null && item.siteId !== BigInt(site)) return false;
    return since === null || item.lastChangedAt > BigInt(Date.parse(since)) * 1_000_000n;
  });
}

const ORDER: Record<string, (item: Item) => bigint> = {
  '-lastChanged': (item) => -item.lastChangedAt,
  '-lastSeen': (item) => -item.lastSeenAt,
  '-firstSeen': (item) => -item.firstSeenAt,
};

function viewItemPage(world: World, query: URLSearchParams): Wire {
  const key = ORDER[query.get('sort') ?? '-lastChanged'] ?? ((item: Item) => item.id);
  const items = selectItems(world, query).sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  const size = Number(query.get('size') ?? 50);
  const page = Number(query.get('page') ?? 0);
  // Items that came since the first page push the others on: some appear on two pages.
  const start = Math.max(0, page * size - (world.habits.moving && page > 0 ? 3 : 0));
  return {
    content: items.slice(start, start + size).map((item) => viewItem(world, item)),
    page,
    size,
    totalElements: items.length,
    totalPages: Math.ceil(items.length / size),
  };
}

function viewHistory(world: World, item: Item): Wire {
  return world
    .feed()
    .filter((change) => change.itemId === item.id)
    .map((change) => ({
      id: change.id,
      kind: change.kind,
      observedAt: writeTime(change.observedAt, world.habits),
      price: change.price === null ? null : new Money(change.price),
      previousPrice: change.previousPrice === null ? null : new Money(change.previousPrice),
      changes: nameChanges(change, world.habits),
    }));
}
