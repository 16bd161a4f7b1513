import * as z from 'zod';

/** Rows of analyses of what changed. The SQL files explain the columns. */

const text = z.string().nullable();
const money = z.string().nullable();
const time = z.date().nullable();

export const moverKind = z.enum(['fall', 'rise', 'new', 'back', 'removed', 'gone']);
export type MoverKind = z.infer<typeof moverKind>;

export const moverRow = z.object({
  kind: moverKind,
  item_id: z.bigint(),
  product_id: z.string(),
  title: text,
  shop: z.string(),
  currency: z.string(),
  price_before: money,
  price: money,
  change_pct: z.number().nullable(),
  rank_before: z.bigint().nullable(),
  shops_before: z.bigint(),
  rank_after: z.bigint().nullable(),
  shops_after: z.bigint(),
  moved_at: time,
  since: z.date(),
  url: text,
});
export type Mover = z.infer<typeof moverRow>;

export const successorRow = z.object({
  old_item_id: z.bigint(),
  new_item_id: z.bigint(),
  shop: z.string(),
  title: text,
  new_title: text,
  product_id: text,
  evidence: z.array(z.string()),
  ended_at: z.date(),
  first_seen_at: z.date(),
  gap_days: z.number(),
  last_price: money,
  last_currency: text,
  first_price: money,
  first_currency: text,
  change_pct: z.number().nullable(),
  candidates: z.bigint(),
  rivals: z.bigint(),
  is_ambiguous: z.boolean(),
  new_url: text,
});
export type Successor = z.infer<typeof successorRow>;

export const gapRow = z.object({
  product_id: z.string(),
  title: text,
  category_name: text,
  currency: z.string(),
  shops: z.bigint(),
  lowest: z.string(),
  lowest_shop: z.string(),
  median: z.string(),
  highest: z.string(),
  sold_widely_at: time,
  own_ended_at: time,
});
export type Gap = z.infer<typeof gapRow>;

/** A stretch of time in which a shop was below a lowest allowed price. */
export const breachRow = z.object({
  product: z.string(),
  title: text,
  currency: text,
  allowed: z.string(),
  place: z.bigint(),
  shop: z.string(),
  first_shop: z.string(),
  from_at: time,
  from_known: z.boolean().nullable(),
  to_at: time,
  is_now: z.boolean(),
  days: z.number().nullable(),
  lowest_price: z.string(),
  below: z.string(),
  change_id: z.bigint().nullable(),
  url: text,
});
export type Breach = z.infer<typeof breachRow>;
