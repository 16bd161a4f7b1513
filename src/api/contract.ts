/** The API's contract: one zod schema for every resource of the API document. */
import { isLosslessNumber } from 'lossless-json';
import * as z from 'zod';

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/**
 * int64 on the wire → bigint. Takes what the exact JSON parser yields: a safe integer as number,
 * a larger one as bigint. A fraction, a string or a rounded number is refused, never coerced.
 */
export const int64 = z
  .union([z.bigint(), z.number().int()])
  .transform((value) => BigInt(value))
  .refine((value) => value >= INT64_MIN && value <= INT64_MAX, 'outside of int64');

/** Largest page of `/items` (section 4). */
export const ITEMS_A_PAGE = 500;

/** int32 on the wire → number. */
export const int32 = z.number().int();

const UTC_DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]00:?00)?$/;

/** ISO 8601 date-time in UTC, as text: DuckDB types it, JavaScript's Date would cut the microseconds. */
export const dateTime = z
  .string()
  .refine((text) => UTC_DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)), 'not a date-time in UTC');

const text = z.string().nullable();

/** Section 2, CategoryRef. */
export const categoryRef = z.looseObject({
  name: z.string(),
  path: z.string(),
  slug: z.string(),
  source: z.enum(['AI', 'MANUAL']),
});

/** Section 2, SiteRef. */
export const siteRef = z.looseObject({ id: int64, name: z.string(), host: z.string(), attribution: text });

/** Section 2, Source. */
export const source = z.looseObject({ modelId: int64, name: z.string() });

/** The exact parser yields a bigint or a LosslessNumber where a double cannot hold the digits. */
function toDouble(value: unknown): unknown {
  // A LosslessNumber's own valueOf throws where the double would overflow; zod refuses the infinity instead.
  if (isLosslessNumber(value)) return Number(value.value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/**
 * A decimal on the wire, rounded to a double where it is longer. Only for answers that people read or
 * tests compare: tables take the raw text.
 */
export const decimal = z.preprocess(toDouble, z.number());

/** Section 2, Item. */
export const item = z.looseObject({
  id: int64,
  title: text,
  brand: text,
  mpn: text,
  gtin: text,
  price: decimal.nullable(),
  previousPrice: decimal.nullable(),
  priceChangedAt: dateTime.nullable(),
  currency: text,
  url: text,
  image: text,
  attributes: z.record(z.string(), z.unknown()),
  category: categoryRef.nullable(),
  datasets: z.array(z.string()),
  site: siteRef,
  source,
  firstSeenAt: dateTime,
  lastSeenAt: dateTime,
  lastChangedAt: dateTime,
  removedAt: dateTime.nullable(),
});

/** Section 2, Dataset. */
export const dataset = z.looseObject({
  id: int64,
  name: z.string(),
  description: text,
  items: int64,
  sites: int32,
  models: int32,
  healthyModels: int32,
  newestScrapeAt: dateTime.nullable(),
  oldestScrapeAt: dateTime.nullable(),
});
export type Dataset = z.infer<typeof dataset>;

export const CHANGE_KINDS = ['NEW', 'CHANGED', 'REMOVED', 'RELISTED'] as const;
const changes = z.record(z.string(), z.tuple([z.unknown(), z.unknown()]));

/** Section 2, ChangeItem. */
export const changeItem = z.looseObject({
  id: int64,
  title: z.string(),
  url: text,
  currency: text,
  site: siteRef,
});

/** Section 2, HistoryEntry. */
export const historyEntry = z.looseObject({
  id: int64,
  kind: z.enum(CHANGE_KINDS),
  observedAt: dateTime,
  price: decimal.nullable(),
  previousPrice: decimal.nullable(),
  changes,
});

/** Section 2, Change: a history entry that names its item. */
export const change = historyEntry.extend({ item: changeItem.nullable() });

/** Section 2, ChangePage. */
export const changePage = z.looseObject({ changes: z.array(change), hasMore: z.boolean(), nextCursor: int64 });

/** Section 2, Facets. */
export const facets = z.looseObject({
  categories: z.array(
    z.looseObject({
      id: int64,
      name: z.string(),
      slug: z.string(),
      path: z.string(),
      parentId: int64.nullable(),
      items: int64,
    }),
  ),
  currencies: z.array(z.looseObject({ code: z.string(), items: int64 })),
  sites: z.array(z.looseObject({ id: int64, name: z.string(), host: z.string(), items: int64 })),
});

/** Section 2, PriceRange. */
export const priceRange = z.looseObject({ currency: z.string(), min: decimal, max: decimal, offers: int64 });

/** Section 2, Product. */
export const product = z.looseObject({
  id: z.string(),
  title: text,
  brand: text,
  mpn: text,
  gtin: text,
  category: categoryRef.nullable(),
  offers: int64,
  shops: int64,
  prices: z.array(priceRange),
});

/** Section 2, ProductDetail. */
export const productDetail = z.looseObject({ product, offers: z.array(item) });

const pageFields = { page: int32, size: int32, totalElements: int64, totalPages: int32 };
/** Section 2, PageDtoItem. */
export const itemPage = z.looseObject({ content: z.array(item), ...pageFields });
/** Section 2, PageDtoProduct. */
export const productPage = z.looseObject({ content: z.array(product), ...pageFields });

const limit = z.preprocess(toDouble, z.number().nonnegative().nullable());

/** Section 8: limits by name; null or absent means unlimited. */
export const planLimits = z.looseObject({
  datasets: limit.optional(),
  apiCallsPerMonth: limit.optional(),
  ratePerSecond: limit.optional(),
  exportRowsPerMonth: limit.optional(),
  historyDays: limit.optional(),
  changeFeed: z.boolean().nullable().optional(),
  webhooks: z.boolean().nullable().optional(),
  delayHours: limit.optional(),
});

/** Section 2, PlanInfo. */
export const planInfo = z.looseObject({
  plan: z.string(),
  name: z.string(),
  status: z.enum(['TRIALING', 'ACTIVE', 'PAST_DUE', 'CANCELED']).nullable(),
  trialEndsAt: dateTime.nullable(),
  limits: planLimits,
  lockedDatasets: int32,
  upgradeUrl: z.string(),
  usage: z.looseObject({ apiCalls: int64, exportRows: int64, resetsAt: dateTime }).nullable(),
});
export type PlanInfo = z.infer<typeof planInfo>;

/** Section 6, WebhookEvent. */
export const webhookEvent = z.looseObject({
  id: z.string(),
  type: z.enum(['changes', 'ping']),
  createdAt: dateTime,
  cursor: int64.nullable(),
  changes: z.array(change).nullish(),
});

/** Section 7, Error. */
export const errorBody = z.looseObject({
  status: int32,
  error: z.string(),
  message: z.string(),
  docsUrl: z.string(),
});

export const LIMIT_NAMES = [
  'datasets',
  'changeFeed',
  'apiCallsPerMonth',
  'ratePerSecond',
  'exportRowsPerMonth',
  'paymentOverdue',
] as const;

/** Section 7, Limit error (402 and 429). */
export const limitErrorBody = errorBody.extend({
  limit: z.enum(LIMIT_NAMES),
  allowed: z.unknown(),
  plan: z.string(),
  upgradeUrl: z.string(),
});
