import * as z from 'zod';
import type { Severity } from '../tables/table.js';

/** Rows of the report's analyses. The SQL files explain the columns. */

const money = z.string().nullable();
const time = z.date().nullable();
const text = z.string().nullable();
const countOrZero = z
  .bigint()
  .nullable()
  .transform((value) => value ?? 0n);

export const overviewRow = z.object({
  items: z.bigint(),
  listed: z.bigint(),
  shops: z.bigint(),
  changes: z.bigint(),
  oldest_change: time,
  newest_change: time,
});
export type Overview = z.infer<typeof overviewRow>;

export const runRow = z.object({
  run_number: z.bigint(),
  mode: z.string(),
  finished_at: z.date(),
  seconds: z.number(),
  caught_up: z.boolean(),
  caught_up_at: time,
  listing_unknown: countOrZero,
  stale_items: countOrZero,
  reason: z.string(),
  calls: z.bigint(),
  export_rows: z.bigint(),
  export_rows_landed: z.bigint(),
  overage: z.boolean(),
  received: z.bigint(),
  written: z.bigint(),
  rejected: z.bigint(),
  deduplicated: z.bigint(),
  adds_up: z.boolean(),
  differences: z.bigint(),
  gone: z.bigint(),
  sampled: z.bigint(),
  sample_mismatches: z.bigint(),
  all_sampled: z.bigint(),
  all_mismatches: z.bigint(),
  products_compared: z.bigint(),
  products_different: z.bigint(),
  duckdb_version: z.string(),
});
export type Run = z.infer<typeof runRow>;

export const checkRow = z.object({
  name: z.string(),
  severity: z.custom<Severity>((value) => ['gate', 'error', 'warn'].includes(value as string)),
  description: z.string(),
  violations: z.bigint(),
  let_through: z.boolean(),
  sample: z.string(),
  checked_at: z.date(),
});
export type CheckRow = z.infer<typeof checkRow>;

export const datasetRow = z.object({
  name: z.string(),
  items: z.bigint(),
  copied: z.bigint(),
  sites: z.bigint(),
  models: z.bigint(),
  healthy_models: z.bigint(),
  newest_scrape_at: time,
  oldest_scrape_at: time,
});
export type Dataset = z.infer<typeof datasetRow>;

export const changesRow = z.object({ day: z.string(), kind: z.string(), changes: z.bigint() });
export type DayChanges = z.infer<typeof changesRow>;

export const summaryRow = z.object({
  min_shops: z.bigint(),
  spreads: z.bigint(),
  grade_a: z.bigint(),
  grade_b: z.bigint(),
  grade_c: z.bigint(),
  left_out: z.bigint(),
  in_many_shops: z.bigint(),
  median_pct: z.number().nullable(),
  p90_pct: z.number().nullable(),
});
export type SpreadSummary = z.infer<typeof summaryRow>;

export const histogramRow = z.object({ from_pct: z.number(), up_to_pct: z.number().nullable(), spreads: z.bigint() });
export type HistogramStep = z.infer<typeof histogramRow>;

export const dayRow = z.object({ day: z.string(), p25: z.number(), median: z.number(), p75: z.number() });
export type DaySpread = z.infer<typeof dayRow>;

export const categoryRow = z.object({
  category_slug: z.string(),
  category_name: text,
  category_path: text,
  spreads: z.bigint(),
  p25: z.number(),
  median: z.number(),
  p75: z.number(),
  widest: z.number(),
});
export type Category = z.infer<typeof categoryRow>;

const TRUSTED = ['shops', 'min', 'median', 'max', 'spread', 'spread_pct', 'cheapest_shop', 'dearest_shop'] as const;

/** The trusted figures; those of all offers where too few can be trusted. */
export const spreadRow = z
  .object({
    product_id: z.string(),
    title: text,
    brand: text,
    category_slug: text,
    category_name: text,
    currency: z.string(),
    offers: z.bigint(),
    shops: z.bigint(),
    min: z.string(),
    median: z.string(),
    max: z.string(),
    spread: z.string(),
    spread_pct: z.number(),
    cheapest_shop: text,
    dearest_shop: text,
    grade: z.string(),
    grade_reason: text,
    left_out: z.bigint(),
    trusted_shops: z.bigint().nullable(),
    trusted_min: money,
    trusted_median: money,
    trusted_max: money,
    trusted_spread: money,
    trusted_spread_pct: z.number().nullable(),
    trusted_cheapest_shop: text,
    trusted_dearest_shop: text,
  })
  .transform((row) => {
    if (row.trusted_min === null) return row;
    const trusted = TRUSTED.map((name) => [name, row[`trusted_${name}`]]);
    return { ...row, ...(Object.fromEntries(trusted) as Pick<typeof row, (typeof TRUSTED)[number]>) };
  });
export type Spread = z.infer<typeof spreadRow>;

export const shopRow = z.object({
  site_id: z.bigint(),
  shop: text,
  host: text,
  products: z.bigint(),
  cheapest: z.bigint(),
  win_pct: z.number(),
  price_index: z.number(),
  index_p25: z.number(),
  index_p75: z.number(),
});
export type Shop = z.infer<typeof shopRow>;

export const productRow = z.object({
  product_id: z.string(),
  currency: z.string(),
  offers: z.bigint(),
  shops: z.bigint(),
  spread_pct: z.number().nullable(),
  grade: text,
  grade_reason: text,
  title: text,
  brand: text,
});
export type Product = z.infer<typeof productRow>;

export const offerRow = z.object({
  product_id: z.string(),
  currency: z.string(),
  item_id: z.bigint(),
  site_id: z.bigint(),
  shop: text,
  price: money,
  is_listed: z.boolean(),
  ended_at: time,
  url: text,
  is_counted: z.boolean().nullable(),
  reason: text,
  unit_price: money,
  unit: text,
  availability: text,
  delivered_price: money,
  offers: z.bigint(),
});
export type Offer = z.infer<typeof offerRow>;

/**
 * An offer's price at the end of each day from `from_day` until before `to_day`. `lowest` and `highest` are over all
 * runs.
 */
export const priceRunRow = z.object({
  item_id: z.bigint(),
  currency: z.string(),
  price: z.string(),
  from_day: z.string(),
  to_day: z.string(),
  lowest: z.string(),
  highest: z.string(),
});
export type PriceRun = z.infer<typeof priceRunRow>;

const texts = z.array(z.string());

/** A line of a price list (watch_changes.sql). */
export const watchedRow = z.object({
  product: z.string(),
  title: text,
  currency: text,
  price: z.string(),
  reason: text,
  shops: z.bigint(),
  position: z.bigint().nullable(),
  cheapest: money,
  cheapest_shop: text,
  median: money,
  gap_pct: z.number().nullable(),
  undercut_by: texts,
  undercut_since: time,
  undercut_since_known: z.boolean().nullable(),
  below_now: texts,
  below_first: text,
  below_since: time,
  below_since_known: z.boolean().nullable(),
  changes: texts.nullable(),
});
export type Watched = z.infer<typeof watchedRow>;

export const creditRow = z.object({
  attribution: z.string(),
  sites: z.array(z.object({ name: z.string(), host: z.string() })),
});
export type Credit = z.infer<typeof creditRow>;
