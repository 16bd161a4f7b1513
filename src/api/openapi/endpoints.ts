import * as p from './parameters.js';
import * as r from './responses.js';

/** What an operation is about, and what its group holds. */
export const TAGS = {
  Account: "The caller's plan, limits and use",
  Changes: 'What happened, for keeping a copy in sync',
  Datasets: 'What the caller may read, and its filter values',
  Events: 'What the service pushes to an endpoint of the customer',
  Export: 'All matching items at once',
  Items: 'Listings: offers of products in shops',
  Products: 'The same product across shops',
};
export type Tag = keyof typeof TAGS;

/** A GET operation of section 4. */
export interface Endpoint {
  operationId: string;
  tags: [Tag];
  summary: string;
  description: string;
  parameters: p.Parameter[];
  ok: r.Response;
  notFound?: r.Response;
  /** Section 7 lists 400 for this endpoint. */
  refuses400?: true;
}

const RECENT_KINDS = ['NEW', 'CHANGED', 'REMOVED', 'RELISTED', 'PRICE_DROP', 'PRICE_RISE'];
const ITEM_SORTS = ['price', '-price', '-lastChanged', '-lastSeen', '-firstSeen', 'title'];
const PRODUCT_SORTS = ['-offers', '-shops', 'price', '-price'];
const hiddenItem = r.answerNotFound('Not found among the items the caller can see.');
const itemId = p.pathId('int64', 'Item id');

const items: Endpoint = {
  operationId: 'listItems',
  tags: ['Items'],
  summary: 'A page of items, filtered and sorted',
  description: 'Without `status` only items that are listed now. Filters add up.',
  parameters: [
    ...p.ITEM_FILTERS,
    p.choice(
      'sort',
      ITEM_SORTS,
      '-lastChanged',
      '`price` is lowest first, `-price` highest first, `-firstSeen` newest listings first',
    ),
    ...p.paging(500),
  ],
  ok: r.answerOne('PageDtoItem', 'The page.'),
  refuses400: true,
};

const changes: Endpoint = {
  operationId: 'readChanges',
  tags: ['Changes'],
  summary: 'The change feed, oldest first, for keeping a copy in sync',
  description:
    "Paid plans only: on Free it answers 402. Start with `after=0`, then pass each answer's `nextCursor` as `after` while `hasMore` is true; continue from the last cursor next time. Each change is delivered exactly once, about 30 seconds after it happens.",
  parameters: [p.dataset, p.after, p.limit(1000, 500)],
  ok: r.answerOne('ChangePage', 'The next changes; `nextCursor` is passed as `after`.'),
};

const recentChanges: Endpoint = {
  operationId: 'listRecentChanges',
  tags: ['Changes'],
  summary: 'Latest changes, newest first, for people',
  description:
    'A change appears here when it appears in `/changes`. The `id` of the newest one is a safe start for `/changes?after=`.',
  parameters: [
    p.dataset,
    p.choice('kind', RECENT_KINDS, null, '`PRICE_DROP` and `PRICE_RISE` are filter values only'),
    p.before,
    p.limit(200, 50),
  ],
  ok: r.answerOne('ChangePage', 'The page; `nextCursor` is passed as `before` to go back.'),
  refuses400: true,
};

const products: Endpoint = {
  operationId: 'listProducts',
  tags: ['Products'],
  summary: 'A page of products: the same product across shops',
  description: 'Products are matched by GTIN, otherwise by brand and part number. Filters add up.',
  parameters: [
    ...p.PRODUCT_FILTERS,
    p.minShops,
    p.choice('sort', PRODUCT_SORTS, '-offers', '`price` is lowest first'),
    ...p.paging(200),
  ],
  ok: r.answerOne('PageDtoProduct', 'The page.'),
  refuses400: true,
};

const exportItems: Endpoint = {
  operationId: 'exportItems',
  tags: ['Export'],
  summary: 'Streams all matching items',
  description:
    "Rows count against the plan's `exportRowsPerMonth`. On paid plans rows beyond it are billed as overage per started 10,000; on Free, in a trial or with overage switched off the export ends at the limit.",
  parameters: [p.choice('format', ['csv', 'ndjson'], 'csv', 'Format of the body'), ...p.ITEM_FILTERS],
  ok: r.answerExport,
  refuses400: true,
};

/** Section 4, in its order; `/api/v1` is put before each path. */
export const ENDPOINTS: Record<string, Endpoint> = {
  '/datasets': {
    operationId: 'listDatasets',
    tags: ['Datasets'],
    summary: 'The datasets that the plan lets the caller read',
    description: 'A dataset is a set of shop listings on one topic. Those beyond the plan are not listed.',
    parameters: [],
    ok: r.answerMany('Dataset', 'The datasets.'),
  },
  '/facets': {
    operationId: 'readFacets',
    tags: ['Datasets'],
    summary: 'Filter values with counts',
    description: 'Websites, categories and currencies, with counts of the items listed now.',
    parameters: [p.dataset],
    ok: r.answerOne('Facets', 'Filter values.'),
    notFound: r.answerNotFound("No such dataset of the caller's."),
  },
  '/items': items,
  '/items/{id}': {
    operationId: 'readItem',
    tags: ['Items'],
    summary: 'An item as it is now, also when no longer listed',
    description: 'An item stays readable by id after it is no longer listed.',
    parameters: [itemId],
    ok: r.answerOne('Item', 'The item.'),
    notFound: hiddenItem,
  },
  '/items/{id}/history': {
    operationId: 'readItemHistory',
    tags: ['Items'],
    summary: "Every change of an item within the plan's history, oldest first",
    description: "It reaches back as far as the plan's `historyDays`.",
    parameters: [itemId],
    ok: r.answerMany('HistoryEntry', 'The changes.'),
    notFound: hiddenItem,
  },
  '/changes': changes,
  '/changes/recent': recentChanges,
  '/products': products,
  '/products/{id}': {
    operationId: 'readProduct',
    tags: ['Products'],
    summary: 'A product with all visible offers, cheapest first',
    description: 'Leading zeros of a GTIN may be left out.',
    parameters: [
      p.pathId('string', 'A GTIN in any of its forms, or a brand-part-number key'),
      p.dataset,
      p.offerCurrency,
    ],
    ok: r.answerOne('ProductDetail', 'The product and its offers.'),
    notFound: r.answerNotFound('No offers of this product among the items the caller can see.'),
  },
  '/export': exportItems,
  '/plan': {
    operationId: 'readPlan',
    tags: ['Account'],
    summary: "The caller's plan, limits and this month's use",
    description: 'The counters cover the calendar month in UTC.',
    parameters: [],
    ok: r.answerOne('PlanInfo', 'The plan.'),
  },
};
