import type { Dataset } from '../journal/landed-entry.js';
import type { Allowance } from './allowance.js';
import { countLeft } from './allowance.js';

/** A part of the copy that the service is asked for by itself: a dataset, or undefined for all that the key can read. */
export type { Dataset };

/**
 * A part of a snapshot that one export brings (section 4, /export). Shards of a snapshot are disjoint at one moment, but
 * for items in several of the datasets that are asked for by themselves.
 */
export interface Shard {
  /** Names its files and journal entries: `all`, `removed` or `site-12`; of a dataset, `dataset-15-all`. */
  name: string;
  /** Undefined for all that the key can read. */
  dataset: Dataset;
  status: 'all' | 'active' | 'removed';
  /** Undefined for all websites. */
  site: bigint | undefined;
  /** Rows it has as the service counts them now. */
  rows: bigint;
}

/** What the service counts, of a dataset or of all that the key can read. */
export interface Counts {
  dataset?: Dataset;
  /** Items in all, removed ones included. */
  items: bigint;
  /** Items listed now, and what `/facets` says of them by website. Undefined where nobody asked. */
  listed?: { items: bigint; sites: readonly { id: bigint; items: bigint }[] } | undefined;
}

export interface ShardPlan {
  shards: Shard[];
  reason: string;
}

/**
 * From so many items on, an export is split: one that breaks off is paid for and taken again from its first row, and a
 * million rows (about 0.9 GB) are what minutes on a slow line bring. Below, one export is quicker than hundreds.
 */
export const SPLIT_ABOVE = 1_000_000n;

/** Shards may take one of so many calls that are left: the run has others to make. */
const CALLS_SHARE = 10n;

/** The exports of each part. What one part would take too much of, all of them are asked for. */
export function planExports(
  parts: readonly Counts[],
  { calls, quota }: Pick<Allowance, 'calls' | 'quota'>,
  above = SPLIT_ABOVE,
): ShardPlan {
  const items = parts.reduce((sum, part) => sum + part.items, 0n);
  const share =
    calls === undefined ? undefined : { ...calls, allowed: calls.used + countLeft(calls) / BigInt(parts.length) };
  const plans = parts.map((part) => {
    // Rows beyond the quota are so, whatever part brings them.
    const others = items - part.items;
    const left = quota === undefined ? undefined : { ...quota, used: quota.used + others };
    return planShards(part, { calls: share, quota: left }, above);
  });
  return {
    shards: plans.flatMap(({ shards }) => shards).sort((a, b) => Number(b.rows - a.rows)),
    reason: [...new Set(plans.map(({ reason }) => reason))].join('; '),
  };
}

/**
 * One export of everything, or one of the listed items of each website and one of the removed items of all: every item
 * is in one of them, so no row is billed twice.
 */
export function planShards(
  { dataset, items, listed }: Counts,
  allowance: Pick<Allowance, 'calls' | 'quota'>,
  above = SPLIT_ABOVE,
): ShardPlan {
  const name = (shard: string) => (dataset === undefined ? shard : `dataset-${dataset}-${shard}`);
  const whole = (reason: string): ShardPlan => ({
    shards: [{ name: name('all'), dataset, status: 'all', site: undefined, rows: items }],
    reason,
  });
  if (items <= above) return whole(`${items} items are no more than ${above}`);
  if (listed === undefined) return whole('the websites are not counted');
  const { sites } = listed;
  const counted = sites.reduce((sum, site) => sum + site.items, 0n);
  const ids = new Set(sites.map(({ id }) => id));
  if (counted !== listed.items || ids.size !== sites.length) {
    return whole(`the websites of /facets add up to ${counted} listed items of ${listed.items}`);
  }
  const { calls, quota } = allowance;
  const needed = BigInt(sites.length) + 1n;
  if (calls !== undefined && needed * CALLS_SHARE > countLeft(calls)) {
    return whole(`${needed} exports would take too many of the ${countLeft(calls)} calls left`);
  }
  // The document does not say whether a started block of overage is one of the month or of each export.
  if (quota !== undefined && items > countLeft(quota)) return whole('rows beyond the quota may be billed by export');
  const bySite = sites.map(({ id, items }): Shard => {
    return { name: name(`site-${id}`), dataset, status: 'active', site: id, rows: items };
  });
  const rows = items - listed.items;
  const removed: Shard = { name: name('removed'), dataset, status: 'removed', site: undefined, rows };
  return {
    // The largest first: none of them is left alone at the end.
    shards: [...bySite, removed].sort((a, b) => Number(b.rows - a.rows)),
    reason: `${items} items are more than ${above}: an export by website`,
  };
}
