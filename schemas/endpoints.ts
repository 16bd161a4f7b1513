import * as z from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { errorBody, limitErrorBody, planInfo } from '../src/api/account-contract.js';
import * as contract from '../src/api/contract.js';

/** Tags of operations. Events is the webhook's tag; the GET operations (API §4) have the others. */
export const TAGS = {
  Account: "The caller's plan, limits and use",
  Changes: 'What happened, for keeping a copy in sync',
  Datasets: 'What the caller may read, and its filter values',
  Events: 'What the service pushes to an endpoint of the customer',
  Export: 'All matching items at once',
  Items: 'Listings: offers of products in shops',
  Products: 'The same product across shops',
};
type Tag = keyof typeof TAGS;

export const json = (description: string, schema: z.ZodType): ZodOpenApiResponseObject => ({
  description,
  content: { 'application/json': { schema } },
});

/** Error responses that several operations share (API §7). */
const SHARED = {
  400: { id: 'BadRequest', ...json('A parameter is not valid; `message` says which.', errorBody) },
  401: { id: 'Unauthorized', ...json('No API key, or one that is invalid or revoked.', errorBody) },
  402: {
    id: 'NotInPlan',
    ...json(
      'Not in the plan: a dataset beyond it (`datasets`), the change feed on Free (`changeFeed`), or a payment overdue for 30 days (`paymentOverdue`).',
      limitErrorBody,
    ),
  },
  429: {
    id: 'TooManyRequests',
    ...json(
      "Too many requests per second (`ratePerSecond`), or the month's calls used up (`apiCallsPerMonth`).",
      limitErrorBody,
    ),
    headers: z.object({ 'Retry-After': header(z.string(), 'Says when to try again') }),
  },
  default: {
    id: 'OtherError',
    ...json('Any other error. Which status a parameter that is not valid gets here: not shown.', errorBody),
  },
} satisfies Record<string, ZodOpenApiResponseObject>;

function header<T extends z.ZodType>(schema: T, description: string) {
  return schema.optional().meta({ header: { description } });
}

const INT64 = z.int().meta({ format: 'int64' });
const INT32 = z.int().meta({ format: 'int32' });

/** Describes a query parameter. The description becomes the parameter's, not its schema's. */
const query = (schema: z.ZodType, description: string) => schema.optional().meta({ param: { description } });
const pathId = (schema: z.ZodType, description: string) => z.object({ id: schema.meta({ param: { description } }) });

const dataset = query(INT64, 'Id from `/datasets`. Without it all visible datasets are used');
const category = query(z.string(), 'Category slug, subcategories included');
const q = query(
  z.string(),
  'Words that must all occur, in any order, in title, brand, codes and other values. Parts of words count',
);
const CURRENCY = z.string().regex(/^[A-Za-z]{3}$/);
const currency = query(CURRENCY, 'ISO 4217 code');
const gtin = query(
  z.string().regex(/^[0-9]{1,14}$/),
  'EAN, UPC or ISBN-13: the same product in every shop. Leading zeros may be left out',
);

/** Filters that both `/items` and `/export` accept. */
const ITEM_FILTERS = {
  dataset,
  site: query(INT64, 'Only items of this website (id from `/facets`)'),
  category,
  q,
  minPrice: query(z.number(), "Lowest price, in the item's currency"),
  maxPrice: query(z.number(), "Highest price, in the item's currency"),
  currency,
  status: query(
    z.enum(['active', 'removed', 'all']).default('active'),
    '`active`: listed now. `removed`: no longer listed',
  ),
  changedSince: query(z.string().meta({ format: 'date-time' }), 'Only items with a change after this time'),
  gtin,
};

/** Paging parameters with the limits of API §8. */
const paging = (maximum: number) => ({
  page: query(INT32.min(0).default(0), 'Page, from 0'),
  size: query(INT32.min(1).max(maximum).default(50), 'Results per page'),
});
const limit = (maximum: number, byDefault: number) =>
  query(INT32.min(1).max(maximum).default(byDefault), 'Changes per page');

interface Endpoint {
  operationId: string;
  tag: Tag;
  summary: string;
  description: string;
  path?: z.ZodObject;
  query?: Record<string, z.ZodType>;
  ok: ZodOpenApiResponseObject;
  /** Describes when the operation returns 404. */
  notFound?: string;
  /** True if API §7 lists 400 for this operation. */
  refuses400?: true;
}

const itemId = pathId(INT64, 'Item id');
const hiddenItem = 'Not found among the items the caller can see.';

const items: Endpoint = {
  operationId: 'listItems',
  tag: 'Items',
  summary: 'A page of items, filtered and sorted',
  description: 'Without `status` only items that are listed now. Filters add up.',
  query: {
    ...ITEM_FILTERS,
    sort: query(
      z.enum(['price', '-price', '-lastChanged', '-lastSeen', '-firstSeen', 'title']).default('-lastChanged'),
      '`price` is lowest first, `-price` highest first, `-firstSeen` newest listings first',
    ),
    ...paging(contract.ITEMS_A_PAGE),
  },
  ok: json('The page.', contract.itemPage),
  refuses400: true,
};

const changes: Endpoint = {
  operationId: 'readChanges',
  tag: 'Changes',
  summary: 'The change feed, oldest first, for keeping a copy in sync',
  description:
    "Paid plans only: on Free it answers 402. Start with `after=0`, then pass each answer's `nextCursor` as `after` while `hasMore` is true; continue from the last cursor next time. Each change is delivered exactly once, about 30 seconds after it happens.",
  query: {
    dataset,
    after: query(INT64.default(0), "The cursor. 0 means from the beginning of the plan's history"),
    limit: limit(1000, 500),
  },
  ok: json('The next changes; `nextCursor` is passed as `after`.', contract.changePage),
};

const recentChanges: Endpoint = {
  operationId: 'listRecentChanges',
  tag: 'Changes',
  summary: 'Latest changes, newest first, for people',
  description:
    'A change appears here when it appears in `/changes`. The `id` of the newest one is a safe start for `/changes?after=`.',
  query: {
    dataset,
    kind: query(
      z.enum([...contract.CHANGE_KINDS, 'PRICE_DROP', 'PRICE_RISE']),
      '`PRICE_DROP` and `PRICE_RISE` are filter values only',
    ),
    before: query(INT64, 'The last `id` of the previous page'),
    limit: limit(200, 50),
  },
  ok: json('The page; `nextCursor` is passed as `before` to go back.', contract.changePage),
  refuses400: true,
};

const products: Endpoint = {
  operationId: 'listProducts',
  tag: 'Products',
  summary: 'A page of products: the same product across shops',
  description: 'Products are matched by GTIN, otherwise by brand and part number. Filters add up.',
  query: {
    dataset,
    q,
    category,
    brand: query(z.string(), 'Brand as the shops name it'),
    gtin,
    currency,
    minShops: query(INT32.default(1), 'Sold by at least this many websites. Use 2 for products to compare'),
    sort: query(z.enum(['-offers', '-shops', 'price', '-price']).default('-offers'), '`price` is lowest first'),
    ...paging(200),
  },
  ok: json('The page.', contract.productPage),
  refuses400: true,
};

/** The export of all items. The API document doesn't show the names of its columns and fields. */
const exportItems: Endpoint = {
  operationId: 'exportItems',
  tag: 'Export',
  summary: 'Streams all matching items',
  description:
    "Rows count against the plan's `exportRowsPerMonth`. On paid plans rows beyond it are billed as overage per started 10,000; on Free, in a trial or with overage switched off the export ends at the limit.",
  query: { format: query(z.enum(['csv', 'ndjson']).default('csv'), 'Format of the body'), ...ITEM_FILTERS },
  ok: {
    description:
      'One row per matching item: CSV in UTF-8 with one header row, or one JSON object per line. Names of columns and fields: not shown.',
    headers: z.object({
      'X-Export-Rows': header(z.int(), 'Rows in this export'),
      'X-Export-Rows-Remaining': header(z.int(), 'Export rows left this month after it'),
      'X-Export-Overage': header(z.boolean(), "`true` if rows beyond the month's quota are in it, billed as overage"),
      'X-Export-Truncated': header(z.boolean(), '`true` if the export ended at the monthly limit'),
      'X-Export-Matching': header(z.int(), 'Given with `X-Export-Truncated`: how many rows matched'),
    }),
    content: { 'text/csv': { schema: z.string() }, 'application/x-ndjson': { schema: z.string() } },
  },
  refuses400: true,
};

/** All GET operations by path without `/api/v1`, in the order of API §4. */
const ENDPOINTS: Record<string, Endpoint> = {
  '/datasets': {
    operationId: 'listDatasets',
    tag: 'Datasets',
    summary: 'The datasets that the plan lets the caller read',
    description: 'A dataset is a set of shop listings on one topic. Those beyond the plan are not listed.',
    ok: json('The datasets.', z.array(contract.dataset)),
  },
  '/facets': {
    operationId: 'readFacets',
    tag: 'Datasets',
    summary: 'Filter values with counts',
    description: 'Websites, categories and currencies, with counts of the items listed now.',
    query: { dataset },
    ok: json('Filter values.', contract.facets),
    notFound: "No such dataset of the caller's.",
  },
  '/items': items,
  '/items/{id}': {
    operationId: 'readItem',
    tag: 'Items',
    summary: 'An item as it is now, also when no longer listed',
    description: 'An item stays readable by id after it is no longer listed.',
    path: itemId,
    ok: json('The item.', contract.item),
    notFound: hiddenItem,
  },
  '/items/{id}/history': {
    operationId: 'readItemHistory',
    tag: 'Items',
    summary: "Every change of an item within the plan's history, oldest first",
    description: "It reaches back as far as the plan's `historyDays`.",
    path: itemId,
    ok: json('The changes.', z.array(contract.historyEntry)),
    notFound: hiddenItem,
  },
  '/changes': changes,
  '/changes/recent': recentChanges,
  '/products': products,
  '/products/{id}': {
    operationId: 'readProduct',
    tag: 'Products',
    summary: 'A product with all visible offers, cheapest first',
    description: 'Leading zeros of a GTIN may be left out.',
    path: pathId(z.string(), 'A GTIN in any of its forms, or a brand-part-number key'),
    query: { dataset, currency: query(CURRENCY, 'ISO 4217 code: only offers in this currency') },
    ok: json('The product and its offers.', contract.productDetail),
    notFound: 'No offers of this product among the items the caller can see.',
  },
  '/export': exportItems,
  '/plan': {
    operationId: 'readAccount',
    tag: 'Account',
    summary: "The caller's plan, limits and this month's use",
    description: 'The counters cover the calendar month in UTC.',
    ok: json('The plan.', planInfo),
  },
};

function describeOperation({
  tag,
  path,
  query,
  ok,
  notFound,
  refuses400,
  ...texts
}: Endpoint): ZodOpenApiOperationObject {
  const takesParameters = path !== undefined || query !== undefined;
  return {
    ...texts,
    tags: [tag],
    ...(takesParameters && {
      requestParams: { ...(path && { path }), ...(query && { query: z.object(query) }) },
    }),
    responses: {
      200: ok,
      ...(refuses400 && { 400: SHARED[400] }),
      401: SHARED[401],
      402: SHARED[402],
      ...(notFound !== undefined && { 404: json(notFound, errorBody) }),
      429: SHARED[429],
      ...(takesParameters && !refuses400 && { default: SHARED.default }),
    },
  };
}

export const PATHS = Object.fromEntries(
  Object.entries(ENDPOINTS).map(([path, endpoint]) => [`/api/v1${path}`, { get: describeOperation(endpoint) }]),
);
