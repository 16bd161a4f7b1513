import { settleAll } from '../../io/side-by-side.js';
import { type IdleRun, type LakeMemory, listIdleRuns } from '../../journal/memory.js';
import type { Dataset } from '../../journal/run-entry.js';
import type { RunState } from '../../journal/run-state.js';
import { countRows } from '../../lake/slices.js';
import type { LakeRows } from '../../lake/table-rows.js';
import { nameDatasets } from '../../plan/find-added.js';
import { type Lack, planRun, type RunPlan } from '../../plan/plan-run.js';
import type { AccountFacts, LakeFacts, RunFacts, UnknownListing } from '../../plan/run-facts.js';
import { type DatasetPart, listParts } from '../../source/dataset-client.js';
import { countItems, countListed } from '../../source/datasets.js';
import type { RelationGraph } from '../../sql/graph.js';
import { code, sql } from '../../sql/sql.js';
import type { DatasetSelection } from '../../tables/table.js';
import { type Account, hasFeed } from '../open/account.js';
import { fetchDatasets, readLakeSelection } from '../open/dataset-selection.js';
import type { FoundLake, World } from '../open/run-parts.js';
import { readOverlap } from './read-overlap.js';

/** The data from which a run, or an estimate of a run, gathers the facts for its plan. */
export interface FactSource extends Pick<World, 'io' | 'client' | 'sources'>, Omit<FoundLake, 'standing'> {
  selection: DatasetSelection;
  graph: RelationGraph;
  journal: { readonly state: RunState };
  memory: { readonly state: LakeMemory };
  /** True for a run, whose journal already counts the current attempt. False for an estimate. */
  isAtWork: boolean;
}

/** Gathers the facts of a run, and plans the run again when facts change. */
export class RunPlanner {
  readonly #source: FactSource;
  readonly #account: Account | undefined;
  readonly facts: RunFacts;
  readonly asked = new Set<Lack>();

  private constructor(source: FactSource, account: Account | undefined, facts: RunFacts) {
    this.#source = source;
    this.#account = account;
    this.facts = facts;
  }

  /** @param planning resolves to undefined if the run has already made all its calls */
  static async open(source: FactSource, planning: Promise<Account | undefined>): Promise<RunPlanner> {
    const { pipeline, selection } = source;
    const { mode, history, splitAbove, products } = pipeline.source;
    const [account, lake] = await settleAll([planning, readLakeFacts(source)]);
    const settings = {
      ...{ mode, history, selection, products, proof: pipeline.proof },
      reconcileEvery: pipeline.reconcile,
      splitAbove: BigInt(splitAbove),
    };
    return new RunPlanner(source, account, { settings, lake, ...readProgress(source, account) });
  }

  note(news: Pick<RunFacts, 'cut' | 'cursorRefused' | 'unnamed'>): void {
    Object.assign(this.facts, news);
  }

  /** Returns the current plan. If the plan needs one of the facts in `lacks`, requests this fact and plans again. */
  async plan(...lacks: Lack[]): Promise<RunPlan> {
    Object.assign(this.facts, readProgress(this.#source, this.#account));
    for (;;) {
      const plan = planRun(this.facts);
      if (plan.lacks === undefined || !lacks.includes(plan.lacks)) {
        if (plan.waiting !== undefined) {
          const { datasets, reason } = plan.waiting;
          this.#source.io.log('warn', 'datasets.waiting', { datasets: nameDatasets(datasets), reason });
        }
        return plan;
      }
      Object.assign(this.facts, await this.#ask(plan, plan.lacks));
      this.asked.add(plan.lacks);
    }
  }

  async #ask({ copy }: RunPlan, lack: Lack): Promise<Partial<RunFacts>> {
    const { client } = this.#source;
    if (lack === 'readable') return { readable: await fetchDatasets(client) };
    if (lack === 'polledAt') return { polledAt: await readPollStart(this.#source) };
    if (lack === 'counts')
      return { counts: await askEach(listParts(client, copy?.datasets ?? []), (part) => countItems(part.client)) };
    return { listed: await askEach(listParts(client, copy?.large ?? []), (part) => countListed(part.client)) };
  }
}

async function askEach<T>(parts: readonly DatasetPart[], askPart: (part: DatasetPart) => Promise<T>) {
  const answers = new Map<Dataset, T>();
  for (const part of parts) answers.set(part.dataset, await askPart(part));
  return answers;
}

/** Reads the facts that change during a run: the time, the remaining allowance, and the journal's state. */
function readProgress(source: FactSource, account: Account | undefined) {
  const { io, client, isAtWork } = source;
  const { state: landed } = source.journal;
  return {
    now: io.now(),
    account: account && describeAccount(account, BigInt(client.calls())),
    ...{ landed, isAtWork },
    ...(landed.watermark === undefined ? {} : { counts: landed.watermark.counts }),
  };
}

function describeAccount({ plan, gate }: Account, callsMade: bigint): AccountFacts {
  return {
    name: plan.name,
    upgradeUrl: plan.upgradeUrl,
    hasFeed: hasFeed(plan),
    historyDays: plan.limits.historyDays ?? null,
    allowance: gate.left(),
    callsMade,
    broken: gate.memory.list(),
  };
}

async function readLakeFacts(source: FactSource): Promise<LakeFacts> {
  const { tables, graph, before, selection, memory, repairs } = source;
  const { state } = source.journal;
  const idleRuns = listIdleRuns(memory.state);
  const applied = tables.history.applied.cursor;
  // A later attempt uses the same cursor as the first attempt.
  const cursor = state.stage === 'none' ? applied : (state.begin.cursorFrom ?? undefined);
  const copied = tables.items.applied.datasets.ids;
  // Reads the ids of all datasets that the key could read. Unlike `items`, the datasets table has those not copied.
  const asksSeen = selection === 'all' && copied.length > 0;
  const seen = asksSeen ? await graph.rows(sql`SELECT dataset_id AS id FROM ${await before.rows('datasets')}`) : [];
  return {
    hasItems: tables.items.version >= 0n,
    hasCursor: applied !== undefined,
    cursor,
    overlap: await readOverlap(source, cursor),
    rows: await countKnownRows(source),
    selection: readLakeSelection(tables.items),
    copied,
    seen: seen.map(({ id }) => id as bigint),
    ...(await findLastRuns(graph, before, idleRuns)),
    unknownListing: await findUnknownListing(graph, before, idleRuns),
    isDamaged: Object.keys(repairs).length > 0,
  };
}

/** Counts the rows of a complete copy. An item in several listed datasets counts once for each of its datasets. */
async function countKnownRows({ tables, graph, before, selection }: FactSource): Promise<bigint> {
  const several = selection !== 'all' && selection.length > 1 ? selection : [];
  const { files } = tables.items;
  // Uses the row counts in the log if pricelake wrote all files. The log lacks the counts of other programs' files.
  if (several.length === 0 && files.every(({ sha256 }) => sha256 !== undefined)) {
    return countRows(files);
  }
  const items = await before.rows('items');
  if (several.length === 0) return graph.count(items);
  const row = await graph.row(sql`SELECT coalesce(sum(greatest(1, len(list_intersect(datasets,
      (SELECT list(name) FROM ${await before.rows('datasets')} WHERE dataset_id IN (${code(several.join(', '))})))))), 0)::BIGINT AS n
    FROM ${items}`);
  return row?.n as bigint;
}

const readTime = (ms: unknown) => (typeof ms === 'bigint' ? new Date(Number(ms)) : undefined);

/**
 * Finds when the lake was last current, and when its last complete copy started. Also searches the runs that found
 * nothing new. The latest time counts, because a run on a machine with a wrong clock may have recorded an early time.
 */
async function findLastRuns(
  graph: RelationGraph,
  before: LakeRows,
  idleRuns: readonly IdleRun[],
): Promise<Pick<LakeFacts, 'caughtUpAt' | 'snapshotAt'>> {
  const idle = idleRuns.at(-1)?.caught_up_at ?? null;
  const idleSnapshot = idleRuns.findLast(({ mode }) => mode === 'snapshot');
  const row = await graph.row(
    sql`SELECT epoch_ms(greatest(max(caught_up_at), CAST(${idle} AS TIMESTAMPTZ))) AS caught_up_at,
      epoch_ms(max(started_at) FILTER (mode = 'snapshot')) AS snapshot_at FROM ${await before.rows('runs')}`,
  );
  return {
    caughtUpAt: readTime(row?.caught_up_at),
    snapshotAt: idleSnapshot === undefined ? readTime(row?.snapshot_at) : new Date(idleSnapshot.started_at),
  };
}

/** Finds how many items have an unknown listing state, and since when. @param idleRuns runs after those in `runs` */
async function findUnknownListing(
  graph: RelationGraph,
  before: LakeRows,
  idleRuns: readonly IdleRun[],
): Promise<UnknownListing | undefined> {
  const runs = await before.rows('runs');
  const row = await graph.row(
    sql`WITH known AS (SELECT coalesce(max(run_number) FILTER (listing_unknown = 0), 0) AS run_number FROM ${runs})
    SELECT arg_max(listing_unknown, run_number) AS items, epoch_ms(min(started_at)) AS since,
      (SELECT epoch_ms(max(started_at)) FROM ${runs} WHERE mode <> 'feed') AS looked_at
    FROM ${runs} WHERE listing_unknown > 0 AND run_number > (SELECT run_number FROM known)`,
  );
  const idle = idleRuns.at(-1);
  if (idle?.listing_unknown === 0n) return undefined;
  const items = idle?.listing_unknown ?? (row?.items as bigint | null) ?? 0n;
  if (items === 0n) return undefined;
  const looked = idleRuns.findLast(({ mode }) => mode !== 'feed');
  return {
    items,
    since:
      readTime(row?.since) ?? new Date(idleRuns.find(({ listing_unknown }) => listing_unknown !== 0n)?.started_at ?? 0),
    lookedAt: looked === undefined ? readTime(row?.looked_at) : new Date(looked.started_at),
  };
}

/** Returns the time of the last poll in ms, or the time of the newest change. The next poll starts there. */
export async function readPollStart({
  graph,
  before,
  tables,
}: Pick<FactSource, 'graph' | 'before' | 'tables'>): Promise<number> {
  const polled = tables.items.applied.polledAt;
  if (polled > 0n) return Number(polled / 1000n);
  const newest = await graph.row(sql`SELECT epoch_us(max(last_changed_at)) AS at FROM ${await before.rows('items')}`);
  return Number(((newest?.at as bigint | null) ?? 0n) / 1000n);
}
