import type { Dataset, EntryOf } from '../journal/run-entry.js';
import { type Allowance, countLeft } from './allowance.js';

/**
 * A part of a complete copy that one export returns (API §4, /export). Its name is `all`, `removed` or `site-12`, or
 * for a dataset `dataset-15-all`. `rows` is the service's count. At any moment, an item is in only one part, unless it
 * is in several of the listed datasets.
 */
export type Shard = EntryOf<'shards'>['shards'][number];

export interface Counts {
  dataset?: Dataset;
  items: bigint;
  /** The number of listed items, in total and for each website (`/facets`); undefined if they weren't counted. */
  listed?: { items: bigint; sites: readonly { id: bigint; items: bigint }[] } | undefined;
}

interface ShardPlan {
  shards: Shard[];
  reason: string;
}

/**
 * If there are more items than this, the export is split. An interrupted export costs its rows and must start again,
 * and a million rows (0.9 GB) take minutes on a slow line. For fewer rows, one export is faster than hundreds.
 */
export const SPLIT_ABOVE = 1_000_000n;

/** Split exports may use a tenth of the remaining calls, because the run also needs calls for other steps. */
const CALLS_SHARE = 10n;

export function planExports(
  parts: readonly Counts[],
  { calls, quota }: Pick<Allowance, 'calls' | 'quota'>,
  above = SPLIT_ABOVE,
): ShardPlan {
  const items = parts.reduce((sum, part) => sum + part.items, 0n);
  const share =
    calls === undefined ? undefined : { ...calls, allowed: calls.used + countLeft(calls) / BigInt(parts.length) };
  const plans = parts.map((part) => {
    // Counts the rows of the other datasets as used, because all exports share the quota.
    const otherRows = items - part.items;
    const left = quota === undefined ? undefined : { ...quota, used: quota.used + otherRows };
    return planShards(part, { calls: share, quota: left }, above);
  });
  return {
    shards: plans.flatMap(({ shards }) => shards).sort((a, b) => Number(b.rows - a.rows)),
    reason: [...new Set(plans.map(({ reason }) => reason))].join('; '),
  };
}

/**
 * Plans a single export, or one for each website's listed items and one for all removed items. Each item is in exactly
 * one export, so that no row is billed twice.
 */
function planShards(
  { dataset, items, listed }: Counts,
  allowance: Pick<Allowance, 'calls' | 'quota'>,
  above = SPLIT_ABOVE,
): ShardPlan {
  const name = (shard: string) => (dataset === undefined ? shard : `dataset-${dataset}-${shard}`);
  const whole = (reason: string): ShardPlan => ({
    shards: [{ name: name('all'), dataset, status: 'all', site: null, rows: items }],
    reason,
  });
  if (items <= above) return whole(`no more than ${above} items`);
  if (listed === undefined) return whole('items are not counted by website');
  const { sites } = listed;
  const counted = sites.reduce((sum, site) => sum + site.items, 0n);
  const ids = new Set(sites.map(({ id }) => id));
  if (counted !== listed.items || ids.size !== sites.length) {
    return whole(`the websites in /facets add up to ${counted} of ${listed.items} listed items`);
  }
  const { calls, quota } = allowance;
  const needed = BigInt(sites.length) + 1n;
  if (calls !== undefined && needed * CALLS_SHARE > countLeft(calls)) {
    return whole(`${needed} exports would take too many of the ${countLeft(calls)} calls left`);
  }
  // Doesn't split, because the service may round up overage for each export. The API document leaves this open.
  if (quota !== undefined && items > countLeft(quota))
    return whole('rows beyond the quota may be billed for each export');
  const bySite = sites.map(({ id, items }): Shard => {
    return { name: name(`site-${id}`), dataset, status: 'active', site: id, rows: items };
  });
  const rows = items - listed.items;
  const removed: Shard = { name: name('removed'), dataset, status: 'removed', site: null, rows };
  return {
    // Starts with the largest export, because it takes the longest.
    shards: [...bySite, removed].sort((a, b) => Number(b.rows - a.rows)),
    reason: `more than ${above} items: one export for each website`,
  };
}
