/** The truth: sites, items and every change, in memory, and how they move on. */
import { createSeeded, type Seeded } from '../seeded.js';
import type { Habits } from './habits.js';

export interface Site {
  id: bigint;
  name: string;
  host: string;
  attribution: string | null;
}

export interface Category {
  name: string;
  path: string;
  slug: string;
  source: 'AI' | 'MANUAL';
}

export type Attributes = Record<string, string | number | boolean | string[] | null>;

export interface Item {
  id: bigint;
  title: string | null;
  brand: string | null;
  mpn: string | null;
  gtin: string | null;
  /** Cents. */
  price: number | null;
  previousPrice: number | null;
  /** Times in nanoseconds since 1970. */
  priceChangedAt: bigint | null;
  currency: string | null;
  url: string | null;
  image: string | null;
  attributes: Attributes;
  category: Category | null;
  datasets: string[];
  siteId: bigint;
  modelId: bigint;
  sourceName: string;
  firstSeenAt: bigint;
  lastSeenAt: bigint;
  lastChangedAt: bigint;
  removedAt: bigint | null;
  /** hidden: 404 by id though the feed names it; gone: 404, and null in the feed. */
  sight: 'visible' | 'hidden' | 'gone';
}

export type Kind = 'NEW' | 'CHANGED' | 'REMOVED' | 'RELISTED';

export interface Change {
  id: bigint;
  kind: Kind;
  observedAt: bigint;
  price: number | null;
  previousPrice: number | null;
  /** Names of changed values → [old, new]; prices in cents. */
  changes: Record<string, [unknown, unknown]>;
  itemId: bigint;
  titleThen: string | null;
}

export const SECOND = 1_000_000_000n;
/** Changes appear in the feed about 30 seconds after they happen (section 8). */
const DELAY = 30n * SECOND;

export class World {
  readonly habits: Habits;
  readonly random: Seeded;
  readonly sites = new Map<bigint, Site>();
  readonly items = new Map<bigint, Item>();
  readonly changes: Change[] = [];
  /** Whether the pipeline copies the item: it may be of chosen datasets. */
  isCopied: (item: Item) => boolean = () => true;
  now = BigInt(Date.UTC(2026, 10, 20, 8, 0, 0)) * 1_000_000n;
  #nextItemId: bigint;
  #nextChangeId = 1n;

  constructor(seed: number, habits: Habits) {
    this.habits = habits;
    this.random = createSeeded(seed);
    this.#nextItemId = habits.ids === 'small' ? 1n : 2n ** 53n + 1n;
    if (habits.ids === 'beyond 2^53') this.#nextChangeId = 2n ** 60n + 7n;
  }

  takeItemId(): bigint {
    this.#nextItemId += this.habits.ids === 'small' ? 1n : BigInt(1 + this.random.integer(1000));
    return this.#nextItemId;
  }

  takeChangeId(): bigint {
    this.#nextChangeId += this.habits.changeIds === 'dense' ? 1n : BigInt(1 + this.random.integer(5000));
    return this.#nextChangeId;
  }

  /** Moves the clock by up to `seconds`, to a moment that the timestamps can tell. */
  tick(seconds: number): void {
    const unit = 10n ** BigInt(9 - this.habits.fraction);
    const step = (BigInt(this.random.integer(seconds * 1_000_000)) * 1000n + 1n * SECOND) / unit;
    this.now += step * unit;
  }

  /** Lets every change come into the feed. */
  settle(): void {
    this.now += 60n * SECOND;
  }

  /** Changes that the feed shows by now. */
  feed(): Change[] {
    return this.changes.filter((change) => change.observedAt + DELAY <= this.now);
  }

  visibleItems(): Item[] {
    return [...this.items.values()].filter((item) => item.sight === 'visible');
  }

  site(id: bigint): Site {
    return this.sites.get(id) as Site;
  }
}
