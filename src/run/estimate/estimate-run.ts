import { createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import { countOf } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { findExisting, readFreeBytes } from '../../io/machine.js';
import { settleAll } from '../../io/side-by-side.js';
import { type LandedRun, peekUnfinishedRun } from '../../journal/landings.js';
import { readMemory } from '../../journal/memory.js';
import { hasAsked, isApplicable, RUN_FOLD, readSelection } from '../../journal/run-state.js';
import { findLake } from '../../lake/lake.js';
import { readTables } from '../../lake/read.js';
import { openSession } from '../../lake/session.js';
import { LakeRows } from '../../lake/table-rows.js';
import { type Allowance, countCallsLeft, countLeft, type RunCaps } from '../../plan/allowance.js';
import type { ModeChoice } from '../../plan/decide-mode.js';
import { countDisk, type RowsAhead, refuseDisk } from '../../plan/disk.js';
import { countOverage } from '../../plan/export-allowance.js';
import type { RunPlan } from '../../plan/plan-run.js';
import { isCursorRefused } from '../../source/feed.js';
import { RelationGraph } from '../../sql/graph.js';
import { TypingQueue } from '../../typing/typing-queue.js';
import { type Account, type AccountPlan, isCountWorthIt, openAccount } from '../open/account.js';
import { isAtRest } from '../open/at-rest.js';
import { refuseNarrowing } from '../open/dataset-selection.js';
import { planRepairs } from '../open/open-tables.js';
import { lookAtDerivers, NO_WINGS, type Wings } from '../open/wings.js';
import { type EarlierRun, findEarlierRun } from '../plan/earlier-run.js';
import { RunPlanner } from '../plan/run-planner.js';
import {
  type Ahead,
  type Count,
  countAhead,
  countBenchSeconds,
  countRest,
  countSeconds,
  estimateSteps,
  type Step,
  sumSteps,
  type Total,
} from './estimate.js';
import { estimateCopy, estimateFeed, estimatePolls, type WaitingFeed } from './estimate-landing.js';
import { type EstimateSource, estimateNeeds } from './estimate-reads.js';

export interface RunEstimate extends ModeChoice, Total {
  /** The interrupted or held run that the next run would continue. */
  unfinished: { runId: string; held: string[] } | undefined;
  steps: Step[];
  /** The maximum number of overage blocks that could be billed for the run. */
  overageBlocks: bigint;
  /** The minimum duration in seconds at the plan's request rate; undefined if the rate is unlimited. */
  seconds: number | undefined;
  rows: bigint;
  /** The earlier run whose duration serves as an estimate: the most similar one, preferably in the same mode. */
  earlier: EarlierRun | undefined;
  /** For a first copy, the duration in seconds that the benchmarks measured for this many rows; else undefined. */
  benchSeconds: number | undefined;
  /** The calls and export rows that the run may use. A missing value means unlimited. */
  allowed: { calls?: bigint; exportRows?: bigint };
  /** The calls and export rows that remain after the run, until `resetsAt`. A missing value means unlimited. */
  rest: { calls?: bigint; exportRows?: bigint };
  resetsAt: Date | undefined;
  plan: Pick<AccountPlan, 'plan' | 'name' | 'status'>;
  /** The disk space that the run needs besides the existing lake, and the free disk space, in bytes. */
  disk: { needed: number; free: number };
  looked: number;
  /** The error with which the run would be refused or would stop early; undefined if neither is expected. */
  refusal: PricelakeError | undefined;
}

export interface EstimateOptions {
  signal?: AbortSignal;
  caps?: RunCaps;
  connect?: typeof createClient;
  wings?: Wings;
}

/**
 * Plans the next run as the run itself would, and estimates its cost. Makes up to seven calls, plus a few for each
 * listed dataset. Neither locks the lake nor writes to it.
 */
export async function estimateRun(
  pipeline: Pipeline,
  io: Io,
  { signal, caps = {}, connect = createClient, wings = NO_WINGS }: EstimateOptions = {},
): Promise<RunEstimate> {
  const { baseUrl, apiKey } = pipeline.source;
  const lake = await findLake(pipeline.lake.path);
  const stop = signal === undefined ? {} : { signal };
  const client = connect({ baseUrl, apiKey, ...stop, cap: pipeline.budget.share?.cap }, io);
  const session = await openSession({ hasModels: true, signal, memoryLimit: pipeline.lake.memory });
  const { db, workFolder } = session;
  try {
    const tables = await readTables(lake);
    const unfinished = await peekUnfinishedRun(lake.root, tables.runs.applied.run ?? 0n);
    const typing = new TypingQueue(db, { runId: 'plan', workFolder });
    const repairs = await planRepairs(lake, Object.values(tables), pipeline);
    const state = unfinished?.state ?? RUN_FOLD.start;
    refuseNarrowing(pipeline, tables.items, state);
    const selection = hasAsked(state) ? readSelection(state.begin) : pipeline.source.datasets;
    // An estimate must not change the lake's saved state, so `append` does nothing.
    const memory = { state: await readMemory(lake), append: async () => {} };
    const journal = { state };
    const graph = new RelationGraph(db);
    const before = new LakeRows(graph, lake, tables, () => 0n);
    const opened = { pipeline, selection, caps, io, lake, graph, before, client, typing, tables, workFolder, memory };
    const { sources, witnesses, listing, probe } = wings;
    const derivers = lookAtDerivers(wings.derivers, { pipeline, tables, repairs });
    return await estimate(
      { ...opened, sources, witnesses, listing, probe, ...derivers, repairs, journal, isAtWork: false },
      unfinished,
    );
  } finally {
    await client.close();
    await session.close();
  }
}

async function estimate(source: EstimateSource, unfinished: LandedRun | undefined): Promise<RunEstimate> {
  const { client } = source;
  const { state } = source.journal;
  const account = await openAccount(source, state);
  const { plan, gate } = account;
  const allowed = gate.left();
  // A run that is held, or that has made all its calls, doesn't request the account's plan.
  const isLanded = state.usage.after !== undefined || state.stage === 'held';
  const planner = await RunPlanner.open(source, Promise.resolve(isLanded ? undefined : account));
  const priced: PricedPlan = isLanded
    ? { plan: await planner.plan(), ahead: NOTHING, refusal: undefined }
    : await pricePlan(source, account, planner);
  const steps = estimateSteps(priced.ahead);
  const total = sumSteps(steps);
  const looked = client.calls();
  const ahead = countAhead(priced.ahead);
  const rows = ahead.items + ahead.changes;
  const disk = { needed: countDisk(ahead), free: await readFreeBytes(await findExisting(source.lake.root)) };
  const { mode, reason, added } = priced.plan.decision;
  const earlier = await findEarlierRun(source, mode, rows);
  const isFirstCopy = earlier === undefined && mode === 'snapshot' && !isLanded;
  return {
    ...{ mode, reason, added },
    ...total,
    unfinished: unfinished && { runId: unfinished.runId, held: state.stage === 'held' ? [...state.checks] : [] },
    steps,
    overageBlocks: countOverage(allowed, total.exportRows),
    seconds: countSeconds(total.calls, plan.limits.ratePerSecond ?? null),
    rows,
    earlier,
    benchSeconds: isFirstCopy ? countBenchSeconds(rows) : undefined,
    allowed: countRest(allowed, { calls: looked - 1, exportRows: 0n }),
    rest: countRest(allowed, { calls: looked - 1 + total.calls, exportRows: total.exportRows }),
    resetsAt: allowed.resetsAt,
    plan: { plan: plan.plan, name: plan.name, status: plan.status },
    looked,
    disk,
    refusal:
      priced.refusal ??
      findShortage(allowed, total, looked) ??
      refuseDisk(source.lake.root, disk.free, keepCertain(ahead, priced.ahead.changes)),
  };
}

/** Drops a number of changes estimated from ids. Ids may have gaps, so the estimate could wrongly refuse a run. */
function keepCertain(ahead: RowsAhead, changes: Count | undefined): RowsAhead {
  return { ...ahead, changes: changes?.exact === true ? ahead.changes : 0n };
}

/** Returns an error if the run needs more calls than are left. */
function findShortage({ calls: bound, resetsAt }: Allowance, total: Total, looked: number): PricelakeError | undefined {
  if (bound === undefined) return undefined;
  const left = countLeft(bound) - BigInt(looked - 1);
  if (left >= BigInt(total.calls)) return undefined;
  const about = total.exact ? '' : 'about ';
  return new PricelakeError(
    bound.rule === 'apiCallsPerMonth' ? 'quota' : 'budget',
    `the run needs ${about}${countOf(total.calls, 'call')}, but only ${left < 0n ? 0n : left} of the ${bound.allowed} allowed by ${bound.rule} are left`,
    {
      rule: bound.rule,
      wanted: total.calls,
      ...(resetsAt === undefined ? {} : { nextRunAt: resetsAt }),
      hint: '`pricelake sync` downloads as much as it can, saves it, and continues when more calls are available.',
    },
  );
}

/** A run's plan with its estimated work, and the error that would refuse the copy, if any. */
interface PricedPlan {
  plan: RunPlan;
  ahead: Ahead;
  refusal: PricelakeError | undefined;
}

/** The work of a run that has already made its calls, and only has to publish. */
const NOTHING: Ahead = {
  plan: false,
  lowWatermark: undefined,
  exports: undefined,
  pages: undefined,
  changedItems: undefined,
  listing: undefined,
  changes: undefined,
  hydration: undefined,
  sources: undefined,
  publishes: true,
  datasets: 0,
  facets: 0,
  witnesses: [],
  countsUsage: () => false,
};

/** Makes the run's plan and estimates its remaining work, without the work that an earlier attempt has done. */
async function pricePlan(source: EstimateSource, account: Account, planner: RunPlanner): Promise<PricedPlan> {
  const { state } = source.journal;
  const { comparisons: compared } = state;
  const plan = await planner.plan('readable', 'polledAt', 'counts', 'listed');
  const { decision, copy, copied, comparisons } = plan;
  const { mode } = decision;
  const polls = copy?.settling === undefined ? plan.polls : [copy.settling, ...plan.polls];
  const changedItems = await estimatePolls(source.client, planner.facts, polls);
  const readsFeed = plan.feed.isRead && state.feed.done === undefined;
  const feed = readsFeed ? await lookAtFeed(source, plan, planner) : undefined;
  // A run makes a new plan if the service refuses the cursor, so the estimate does as well.
  if (feed === 'refused') return pricePlan(source, account, planner);
  const isNews = isAny(feed?.changes) || state.feed.changes > 0;
  const callsLeft = countCallsLeft(account.gate.left(), BigInt(source.client.calls()));
  const brought = await estimateSources(source, account, copy?.items);
  const asked = isApplicable(state) ? undefined : await source.probe?.choose({ ...source, mode, facts: planner.facts });
  const probes = asked?.length ?? 0;
  const isIdle =
    state.stage === 'none' &&
    probes === 0 &&
    copied.length === 0 &&
    !isNews &&
    !isAny(changedItems) &&
    !brought.some(({ bringsChanges }) => bringsChanges) &&
    !(await hasWaiting(source));
  const checks = (plan.checksDatasets ? 1 : 0) + (planner.asked.has('readable') ? 1 : 0);
  const ahead: Ahead = {
    plan: true,
    lowWatermark: countLowWatermark(plan, state.watermark !== undefined),
    ...(copy === undefined ? { exports: undefined, pages: undefined } : estimateCopy(planner.facts, copy, account)),
    changedItems,
    listing: mode === 'poll' ? await source.listing?.estimate({ ...source, callsLeft }) : undefined,
    changes: feed?.changes,
    probes,
    hydration:
      feed === undefined || mode !== 'feed' ? undefined : await estimateNeeds(source, account, feed, decision.overlap),
    sources: brought,
    publishes: !planner.facts.lake.hasItems || isNews,
    datasets: (isApplicable(state) || (isIdle && mode === 'feed') ? 0 : 1) + checks,
    facets: source.listing !== undefined && comparisons.facets && compared.facets === undefined ? 1 : 0,
    witnesses: isIdle ? [] : await estimateWitnesses(source, plan),
    countsUsage: (calls, rows) => !isIdle && (account.plan.usage ?? null) !== null && isCountWorthIt(calls, rows > 0n),
  };
  return { plan, ahead, refusal: copy?.choice.route === 'wait' ? copy.choice.refusal : undefined };
}

/** Estimates how many changes the lake lacks. Returns `refused` if the service refuses the cursor. */
async function lookAtFeed(source: EstimateSource, { feed, decision }: RunPlan, planner: RunPlanner) {
  return estimateFeed(source, feed.starts).catch((error: unknown): WaitingFeed | 'refused' => {
    if (!isCursorRefused(error)) throw error;
    if (decision.mode !== 'feed') return { changes: { count: 0n, calls: 1, exact: false } };
    planner.note({ cursorRefused: error.message });
    return 'refused';
  });
}

/** Counts the calls that request the newest change, item counts, and the websites of large datasets. */
function countLowWatermark({ lowWatermark, copy }: RunPlan, isTaken: boolean): number | undefined {
  const websites = 2 * (copy?.large.length ?? 0);
  if (lowWatermark === undefined || isTaken) return websites === 0 ? undefined : websites;
  return (lowWatermark.feed === 'none' ? 0 : 1) + lowWatermark.parts.length + websites;
}

/** Estimates the calls that sources other than the feed make before and after the run. */
async function estimateSources(source: EstimateSource, { gate }: Account, copied: bigint | undefined) {
  const isFirst = source.tables.items.version < 0n;
  const next = { ...source, isFirst, callsLeft: countCallsLeft(gate.left(), 0n), copied };
  const priced = await settleAll(source.sources.map(async (one) => one.estimate?.(next)));
  return priced.filter((one) => one !== undefined);
}

/** True if a source has changes that haven't landed, or if the lake has items to read again or tables to publish. */
async function hasWaiting(source: EstimateSource): Promise<boolean> {
  for (const one of source.sources) if (await one.hasWaiting(source.lake)) return true;
  return !(await isAtRest(source));
}

function isAny(count: Count | undefined): boolean {
  return count !== undefined && count.count > 0n;
}

async function estimateWitnesses(source: EstimateSource, plan: RunPlan) {
  const priced = await settleAll(source.witnesses.map(async (one) => one.estimate?.({ ...source, plan })));
  return priced.filter((one) => one !== undefined);
}
