/** The truth: sites, items and every change, in memory, how they move on, and how they were at any time before. */
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
  /** When something last happened to it, told by lastChangedAt or not. */
  touchedAt: bigint;
  /** True when it was out of the caller's data at some time: no change tells of that, nor of its return. */
  hasLeft: boolean;
}

export type Kind = 'NEW' | 'CHANGED' | 'REMOVED' | 'RELISTED';

export interface Change {
  id: bigint;
  kind: Kind;
  observedAt: bigint;
  price: number | null;
  previousPrice: number | null;
  /** Names of changed values → [old, new]; prices in cents, values of attributes by `attributes.` and their name. */
  changes: Record<string, [unknown, unknown]>;
  itemId: bigint;
  titleThen: string | null;
}

/** The world at one moment. */
export interface View {
  now: bigint;
  /** Visible items. */
  readonly items: Item[];
  item(id: bigint): Item | undefined;
  site(id: bigint): Site;
  sites(): Site[];
}

export const SECOND = 1_000_000_000n;
/** Changes appear in the feed about 30 seconds after they happen (section 8). */
const DELAY = 30n * SECOND;
const DAY = 86_400n * SECOND;

/** What something was, and from when on. */
interface Version<T> {
  at: bigint;
  value: T;
}

export class World {
  readonly habits: Habits;
  /** What happens next is drawn from it: a life gives each step its own. */
  random: Seeded;
  /** Names of the caller's datasets; the id of each is its place from 1. */
  datasets: readonly [string, string];
  readonly sites = new Map<bigint, Site>();
  readonly items = new Map<bigint, Item>();
  readonly changes: Change[] = [];
  /** Whether the pipeline copies the item: it may be of chosen datasets. */
  isCopied: (item: Item) => boolean = () => true;
  now = BigInt(Date.UTC(2026, 10, 20, 8, 0, 0)) * 1_000_000n;
  readonly #versions = new Map<bigint, Version<Item>[]>();
  readonly #siteVersions = new Map<bigint, Version<Site>[]>();
  /** Apart from `random`, so that a habit does not change what happens. */
  readonly #ids: Seeded;
  #nextItemId: bigint;
  #nextChangeId = 1n;

  constructor(seed: number, habits: Habits) {
    this.habits = habits;
    this.random = createSeeded(seed);
    this.#ids = createSeeded(seed + 1);
    this.datasets = habits.datasetNames === 'plain' ? ['Garden', 'Tools'] : ['Home; Garden', 'Tools | Wood, Metal'];
    this.#nextItemId = habits.ids === 'small' ? 1n : 2n ** 53n + 1n;
    if (habits.ids === 'beyond 2^53') this.#nextChangeId = 2n ** 60n + 7n;
  }

  takeItemId(): bigint {
    this.#nextItemId += this.habits.ids === 'small' ? 1n : BigInt(1 + this.#ids.integer(1000));
    return this.#nextItemId;
  }

  takeChangeId(): bigint {
    this.#nextChangeId += this.habits.changeIds === 'dense' ? 1n : BigInt(1 + this.#ids.integer(5000));
    return this.#nextChangeId;
  }

  /** Now, as timestamps tell it. */
  stamp(): bigint {
    const unit = 10n ** BigInt(9 - this.habits.fraction);
    return (this.now / unit) * unit;
  }

  /** Moves the clock by up to `seconds`, and a second. */
  tick(seconds: number): void {
    this.now += BigInt(this.random.integer(seconds * 1_000_000)) * 1000n + SECOND;
  }

  /** Lets every change come into the feed, and answers that lag by so many seconds show it. */
  settle(lagSeconds = 0): void {
    this.now += (60n + BigInt(lagSeconds) + BigInt(Math.max(0, this.habits.skewMs) / 1000)) * SECOND;
  }

  /** Keeps the item as it is from now on, for answers that come late. */
  keep(item: Item): void {
    keepVersion(this.#versions, item.id, this.now, { ...item });
  }

  keepSite(site: Site): void {
    keepVersion(this.#siteVersions, site.id, this.now, { ...site });
  }

  /** Changes that the feed shows by now. */
  feed(): Change[] {
    const late = DELAY + BigInt(this.habits.lateChanges) * SECOND;
    return this.changes.filter(({ id, observedAt }) => observedAt + (id % 9n === 0n ? late : DELAY) <= this.now);
  }

  /** Where the plan's history begins. */
  historyStart(): bigint {
    const { historyDays } = this.habits;
    return historyDays === null ? 0n : this.now - BigInt(historyDays) * DAY;
  }

  /** The world as it was so many milliseconds ago. */
  asOf(lagMs: number): View {
    if (lagMs === 0) return this.#viewNow();
    const at = this.now - BigInt(Math.round(lagMs)) * 1_000_000n;
    const item = (id: bigint) => findVersion(this.#versions, id, at);
    // A website that nothing is known of yet has no item that could show it.
    const site = (id: bigint) => findVersion(this.#siteVersions, id, at) ?? this.site(id);
    const listItems = () => [...this.#versions.keys()].map(item).filter((one) => one?.sight === 'visible') as Item[];
    return {
      now: at,
      get items() {
        return listItems();
      },
      item,
      site,
      sites: () => [...this.sites.keys()].map(site),
    };
  }

  #viewNow(): View {
    const listItems = () => this.visibleItems();
    return {
      now: this.now,
      get items() {
        return listItems();
      },
      item: (id) => this.items.get(id),
      site: (id) => this.site(id),
      sites: () => [...this.sites.values()],
    };
  }

  visibleItems(): Item[] {
    return [...this.items.values()].filter((item) => item.sight === 'visible');
  }

  site(id: bigint): Site {
    return this.sites.get(id) as Site;
  }
}

function keepVersion<T>(versions: Map<bigint, Version<T>[]>, id: bigint, at: bigint, value: T): void {
  const kept = versions.get(id);
  if (kept === undefined) versions.set(id, [{ at, value }]);
  else kept.push({ at, value });
}

function findVersion<T>(versions: Map<bigint, Version<T>[]>, id: bigint, at: bigint): T | undefined {
  return versions.get(id)?.findLast((version) => version.at <= at)?.value;
}
