/** What the service knows beside the world. */
import type { View, World } from './world.js';

/** Answers that are each behind the feed by an amount of their own. */
export type Source = 'items' | 'export' | 'facets' | 'products' | 'single';

/** What the service knows beside the world. */
export interface Account {
  world: World;
  /** The world as answers of this kind show it. */
  view(source: Source): View;
  /** Calls and export rows that it has counted. */
  used: { calls: number; rows: number };
  /** Ids of the changes that `/changes` has shown. */
  delivered: Set<bigint>;
}
