import { LosslessNumber, stringify } from 'lossless-json';

/** One real product with a typical price: what a generator of offers starts from. */
export interface BaseProduct {
  gtin: string | null;
  brand: string | null;
  title: string;
  /** In EUR, as decimal text. */
  price: string;
  /** What one unit contains: `500 g`, `0.75 L`, `30 kom`. Null if the catalog doesn't say. */
  quantity: string | null;
}

/** The API's Item. Ids are int64 and money is decimal text, so neither loses a digit. Times are ISO 8601 in UTC. */
export interface TrialItem {
  id: bigint;
  title: string | null;
  brand: string | null;
  mpn: string | null;
  gtin: string | null;
  price: string | null;
  previousPrice: string | null;
  priceChangedAt: string | null;
  currency: string | null;
  url: string | null;
  image: string | null;
  attributes: Record<string, unknown>;
  category: { name: string; path: string; slug: string; source: 'AI' | 'MANUAL' } | null;
  datasets: string[];
  site: { id: number; name: string; host: string; attribution: string | null };
  source: { modelId: number; name: string };
  firstSeenAt: string;
  lastSeenAt: string;
  lastChangedAt: string;
  removedAt: string | null;
}

/**
 * What the generator did to an item. `fault` is null for an honest offer: its price is a true price of exactly the product
 * that its codes name, as one new unit that anyone can buy today. Otherwise it is the name of the fault.
 */
export interface Truth {
  /** The item's id as decimal text. */
  itemId: string;
  fault: string | null;
  why: string;
}

/** Offers as the service would export them, and the truth about each: one entry per item, in the same order. */
export interface Trial {
  items: TrialItem[];
  truth: Truth[];
}

/** The present of every trial: prices are those of this moment. */
export const TRIAL_NOW = Date.UTC(2026, 10, 19, 4);

/** Items as NDJSON, the form of an export. Ids and money are JSON numbers with all their digits. */
export function renderItems(items: readonly TrialItem[]): string {
  const money = (text: string | null) => (text === null ? null : new LosslessNumber(text));
  return items
    .map((item) => `${stringify({ ...item, price: money(item.price), previousPrice: money(item.previousPrice) })}\n`)
    .join('');
}
