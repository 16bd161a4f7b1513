import { NO_EXPORTS } from './allowance.js';
import { findBrokenCopy, refuseBroken } from './broken-exports.js';
import { type CopyChoice, chooseCopy } from './choose-copy.js';
import type { PollPlan } from './plan-polls.js';
import { reachBack } from './plan-polls.js';
import { type Dataset, planExports, type Shard } from './plan-shards.js';
import type { RunFacts } from './run-facts.js';

/** How all items of some parts are copied. */
export interface CopyPlan {
  datasets: readonly Dataset[];
  /** Their items. */
  items: bigint;
  /** Rows of them that exports have still to bring. */
  exportRows: bigint;
  /** By exports or by pages, and why; or why nothing may be begun now. */
  choice: CopyChoice;
  /** True where nothing is left to choose: pages have landed, of one part to the end. */
  isChosen: boolean;
  lacks: 'counts' | 'listed' | undefined;
  /** Parts of which the listed items are to be counted by website. */
  large: Dataset[];
  /** Exports that make the copy, those that have landed included; undefined by pages, or while something is lacking. */
  shards: Shard[] | undefined;
  /** Why there are so many; undefined where the journal has them. */
  shardReason: string | undefined;
  /** Those that are still to land. */
  missing: Shard[];
  /** Poll of what moved between the shards meanwhile: it may be in none of them. */
  settling: PollPlan | undefined;
}

/** The route and the exports of a copy. Shards that have landed or were planned for the same parts are kept. */
export function planCopy(facts: RunFacts, datasets: readonly Dataset[]): CopyPlan {
  const { counts, landed } = facts;
  const kept = keepShards(facts, datasets);
  const open = datasets.filter((dataset) => !kept.some((shard) => shard.dataset === dataset));
  const countOf = (dataset: Dataset) => counts?.get(dataset) ?? 0n;
  const items = sum(datasets.map(countOf));
  const left = kept.filter(({ name }) => !landed.exported.includes(name));
  const exportRows = sum(left.map(({ rows }) => rows)) + sum(open.map(countOf));
  // Until all exports are known, any that broke off may be one of them.
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
    missing: shards?.filter(({ name }) => !landed.exported.includes(name)) ?? [],
    settling: shards === undefined ? undefined : planSettling(facts, datasets, shards),
  };
}

/** Shards of the journal: those of these parts, and others whose rows are paid for. */
function keepShards({ landed }: RunFacts, datasets: readonly Dataset[]): Shard[] {
  const { shards = [], exported } = landed;
  return shards.filter(({ dataset, name }) => datasets.includes(dataset) || exported.includes(name));
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
  if (pagesLanded > 0n && [...landed.polls.values()].some(({ isDone }) => isDone)) {
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
  { lowWatermark, landed }: RunFacts,
  datasets: readonly Dataset[],
  shards: readonly Shard[],
): PollPlan | undefined {
  if (lowWatermark !== undefined && lowWatermark.changedAt === undefined) return undefined;
  if (shards.length === 1 && landed.polls.size === 0) return undefined;
  const changedAt = lowWatermark?.changedAt;
  const since = changedAt === undefined ? undefined : reachBack(Date.parse(changedAt));
  return { datasets, since, untilSettled: true, reopens: false };
}

function sum(counts: readonly bigint[]): bigint {
  return counts.reduce((total, count) => total + count, 0n);
}
