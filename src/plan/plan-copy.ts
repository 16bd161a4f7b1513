import { findDone } from '../journal/exports.js';
import type { Dataset } from '../journal/run-entry.js';
import type { RunMode } from '../tables/table.js';
import { NO_EXPORTS } from './allowance.js';
import { findBrokenCopy, refuseBroken } from './broken-exports.js';
import { type CopyChoice, chooseCopy } from './choose-copy.js';
import { hasOutlastedHistory } from './decide-mode.js';
import { planExports, type Shard } from './plan-shards.js';
import type { RunFacts } from './run-facts.js';

export interface CopyPlan {
  datasets: readonly Dataset[];
  /** The number of items in `datasets`. */
  items: bigint;
  exportRows: bigint;
  /** Exports, pages, or the reason why the copy must wait. */
  choice: CopyChoice;
  /** True if only pages are possible, because the pages of a dataset have already been read completely. */
  isChosen: boolean;
  lacks: 'counts' | 'listed' | undefined;
  /** The datasets whose listed items must be counted for each website. */
  large: Dataset[];
  /** All exports of the copy, including complete ones; undefined if pages are read or facts are missing. */
  shards: Shard[] | undefined;
  /** The reason for the number of exports; undefined if the journal already contains the exports. */
  shardReason: string | undefined;
  /** The exports that aren't complete yet. */
  missing: Shard[];
  /** The poll for items that changed during the copy, because they may have moved to a shard that was already read. */
  settling: PollPlan | undefined;
}

/** Plans how all items are copied. Keeps exports that are complete or were planned for the same datasets. */
export function planCopy(facts: RunFacts, datasets: readonly Dataset[]): CopyPlan {
  const { counts } = facts;
  const kept = keepShards(facts, datasets);
  const open = datasets.filter((dataset) => !kept.some((shard) => shard.dataset === dataset));
  const countOf = (dataset: Dataset) => counts?.get(dataset) ?? 0n;
  const items = sum(datasets.map(countOf));
  const left = kept.filter(({ name }) => !isExported(facts, name));
  const exportRows = sum(left.map(({ rows }) => rows)) + sum(open.map(countOf));
  // Until the exports are planned, assumes that any export that failed earlier belongs to this copy.
  const names = open.length === 0 ? left.map(({ name }) => name) : undefined;
  const { choice, isChosen } = chooseRoute(facts, { datasets, items, exportRows, names });
  const isExport = choice.route === 'export';
  const large = isExport ? open.filter((dataset) => countOf(dataset) > facts.settings.splitAbove) : [];
  const isCounted = open.every((dataset) => counts?.has(dataset));
  const lacks = !isCounted ? 'counts' : large.some((dataset) => !facts.listed?.has(dataset)) ? 'listed' : undefined;
  const added = isExport && lacks === undefined && open.length > 0 ? splitParts(facts, open, countOf) : undefined;
  const shards = isExport && lacks === undefined ? [...kept, ...(added?.shards ?? [])] : undefined;
  return {
    datasets,
    items,
    exportRows,
    choice,
    isChosen,
    lacks,
    large,
    shards,
    shardReason: added?.reason,
    missing: shards?.filter(({ name }) => !isExported(facts, name)) ?? [],
    settling: shards === undefined ? undefined : planSettling(facts, datasets, shards),
  };
}

/** Returns the journaled exports of these datasets, and other exports that are complete and therefore paid for. */
function keepShards(facts: RunFacts, datasets: readonly Dataset[]): Shard[] {
  const { planned = [] } = facts.landed.exports;
  return planned.filter(({ dataset, name }) => datasets.includes(dataset) || isExported(facts, name));
}

function isExported({ landed }: RunFacts, shard: string): boolean {
  return findDone(landed.exports, shard) !== undefined;
}

function splitParts(
  { settings, account, listed }: RunFacts,
  open: readonly Dataset[],
  countOf: (d: Dataset) => bigint,
) {
  const parts = open.map((dataset) => ({ dataset, items: countOf(dataset), listed: listed?.get(dataset) }));
  return planExports(parts, account?.allowance ?? NO_EXPORTS, settings.splitAbove);
}

function chooseRoute(
  { account, landed, now, cut }: RunFacts,
  copy: Pick<CopyPlan, 'datasets' | 'items' | 'exportRows'> & { names: string[] | undefined },
): { choice: CopyChoice; isChosen: boolean } {
  const { datasets, items, exportRows, names } = copy;
  const polls = datasets.map((dataset) => landed.polls.get(dataset));
  const pagesLanded = BigInt(polls.reduce((pages, poll) => pages + (poll?.wholePages ?? 0), 0));
  if (polls.some((poll) => poll?.isWhole)) {
    return { choice: { route: 'pages', reason: 'pages have landed', thisMonth: true }, isChosen: true };
  }
  const broken = findBrokenCopy(account?.broken ?? [], now, names);
  const choice = chooseCopy({
    items,
    parts: datasets.length,
    exportRows,
    allowance: account?.allowance ?? NO_EXPORTS,
    callsMade: account?.callsMade ?? 0n,
    pagesLanded,
    cut,
    broken: broken && refuseBroken(broken),
  });
  return { choice, isChosen: false };
}

function planSettling(
  { landed: { watermark, polls } }: RunFacts,
  datasets: readonly Dataset[],
  shards: readonly Shard[],
): PollPlan | undefined {
  if (watermark !== undefined && watermark.changedAt === undefined) return undefined;
  if (shards.length === 1 && polls.size === 0) return undefined;
  const changedAt = watermark?.changedAt;
  const since = changedAt === undefined ? undefined : reachBack(Date.parse(changedAt));
  return { datasets, since, untilSettled: true, reopens: false };
}

function sum(counts: readonly bigint[]): bigint {
  return counts.reduce((total, count) => total + count, 0n);
}

/** A poll requests the items of some datasets that changed since a time. */
export interface PollPlan {
  datasets: readonly Dataset[];
  /** The time in ISO 8601 format; undefined until it is known. */
  since: string | undefined;
  /** True if the poll must not miss items that change while it runs. */
  untilSettled: boolean;
  /** True to poll the same items again, even if the run has already polled them. */
  reopens: boolean;
}

/**
 * Plans the polls. A run without the feed polls the items that changed since the last poll. If a run was interrupted
 * for longer than the feed reaches back, it polls the items that changed in the meantime.
 */
export function planPolls(
  facts: RunFacts,
  { mode, parts, polled }: { mode: RunMode; parts: readonly Dataset[]; polled: readonly Dataset[] },
): PollPlan[] {
  const { polledAt, landed } = facts;
  const polls: PollPlan[] = [];
  if (mode === 'poll') {
    const since = polledAt === undefined ? undefined : reachBack(polledAt);
    polls.push({ datasets: polled, since, untilSettled: false, reopens: false });
  }
  const changedAt = landed.watermark?.changedAt;
  if (changedAt !== undefined && landed.feed.done === undefined && hasOutlastedHistory(facts)) {
    polls.push({ datasets: parts, since: reachBack(Date.parse(changedAt)), untilSettled: true, reopens: true });
  }
  return polls;
}

/** A poll looks back this many milliseconds further than needed, because a change may become visible late. */
const POLL_OVERLAP_MS = 3600 * 1000;

export function reachBack(time: number): string {
  return new Date(Math.max(0, time - POLL_OVERLAP_MS)).toISOString();
}
