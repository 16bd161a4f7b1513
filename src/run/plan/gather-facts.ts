import { settleAll } from '../../io/side-by-side.js';
import { type IdleRun, type LakeMemory, listIdleRuns } from '../../journal/memory.js';
import type { RunState } from '../../journal/run-state.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { AccountFacts, LakeFacts, RunFacts, UnknownListing } from '../../plan/run-facts.js';
import { hasFeed, type PlannedRun } from '../../source/read-plan.js';
import type { RelationGraph } from '../../sql/graph.js';
import { code, sql } from '../../sql/sql.js';
import { readLakeSelection } from '../open/dataset-selection.js';
import type { Run } from '../open/open-run.js';

/** A run at work, or a look at the next one. */
export interface FactSource
  extends Pick<Run, 'pipeline' | 'selection' | 'io' | 'lake' | 'graph' | 'before' | 'tables' | 'client' | 'repairs'> {
  journal: { readonly state: RunState };
  memory: { readonly state: LakeMemory };
  /** True where the journal names the try that the facts are for. */
  isAtWork: boolean;
}

/** Gathers the facts that need no call. `planning` gives undefined for a run that has made its calls. */
export async function gatherFacts(source: FactSource, planning: Promise<PlannedRun | undefined>): Promise<RunFacts> {
  const { pipeline, selection } = source;
  const { mode, history, splitAbove, products } = pipeline.source;
  const [planned, lake] = await settleAll([planning, readLakeFacts(source)]);
  return {
    settings: {
      ...{ mode, history, selection, products, proof: pipeline.proof },
      reconcileEvery: pipeline.reconcile,
      splitAbove: BigInt(splitAbove),
    },
    lake,
    ...readProgress(source, planned),
  };
}

/** Reads the facts that change while a run lands: the time, the rest of the plan, the journal. */
export function readProgress(source: FactSource, planned: PlannedRun | undefined) {
  const { io, client, isAtWork } = source;
  const { state: landed } = source.journal;
  return {
    now: io.now(),
    account: planned && readAccount(planned, BigInt(client.calls())),
    ...{ landed, isAtWork },
    ...(landed.watermark === undefined ? {} : { counts: landed.watermark.counts }),
  };
}

function readAccount({ plan, gate }: PlannedRun, callsMade: bigint): AccountFacts {
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
  const cursor = tables.history.applied.cursor;
  const copied = tables.items.applied.datasets.ids;
  // Only they show that there are others.
  const asksSeen = selection === 'all' && copied.length > 0;
  const seen = asksSeen ? await graph.rows(sql`SELECT dataset_id AS id FROM ${await before.rows('datasets')}`) : [];
  return {
    hasItems: tables.items.version >= 0n,
    hasCursor: cursor !== undefined,
    cursor: state.stage === 'none' ? cursor : (state.begin.cursorFrom ?? undefined),
    rows: await countKnownRows(source),
    selection: readLakeSelection(tables.items),
    copied,
    seen: seen.map(({ id }) => id as bigint),
    ...(await findLastRuns(graph, before, idleRuns)),
    unknownListing: await findUnknownListing(graph, before, idleRuns),
    isDamaged: Object.keys(repairs).length > 0,
  };
}

/** One row in several datasets of a list comes with each. */
async function countKnownRows({ tables, graph, before, selection }: FactSource): Promise<bigint> {
  const several = selection !== 'all' && selection.length > 1 ? selection : [];
  const { files } = tables.items;
  // The log counts the rows of our own files.
  if (several.length === 0 && files.every(({ sha256 }) => sha256 !== undefined)) {
    return files.reduce((sum, { rows }) => sum + rows, 0n);
  }
  const items = await before.rows('items');
  if (several.length === 0) return graph.count(items);
  const row = await graph.row(sql`SELECT coalesce(sum(greatest(1, len(list_intersect(datasets,
      (SELECT list(name) FROM ${await before.rows('datasets')} WHERE dataset_id IN (${code(several.join(', '))})))))), 0)::BIGINT AS n
    FROM ${items}`);
  return row?.n as bigint;
}

/**
 * Up to when the lake is current, and when it was last copied whole. A run without news, even a complete copy, waits
 * among the idle ones.
 */
async function findLastRuns(
  graph: RelationGraph,
  before: LakeRows,
  idleRuns: readonly IdleRun[],
): Promise<Pick<LakeFacts, 'caughtUpAt' | 'snapshotAt'>> {
  const idle = idleRuns.at(-1)?.caught_up_at ?? null;
  const idleSnapshot = idleRuns.findLast(({ mode }) => mode === 'snapshot');
  // Older rows do not say when the feed's end was reached: not before the run began.
  const row = await graph.row(
    sql`SELECT epoch_ms(max(coalesce(caught_up_at, CASE WHEN caught_up THEN started_at END))) AS caught_up_at,
      epoch_ms(max(started_at) FILTER (mode = 'snapshot')) AS snapshot_at FROM ${await before.rows('runs')}`,
  );
  const read = (value: unknown) => (typeof value === 'bigint' ? new Date(Number(value)) : undefined);
  return {
    caughtUpAt: idle === null ? read(row?.caught_up_at) : new Date(idle),
    snapshotAt: idleSnapshot === undefined ? read(row?.snapshot_at) : new Date(idleSnapshot.started_at),
  };
}

/** Reads the doubt that runs left since one last established which items are listed. Idle runs are the newest. */
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
  const read = (value: unknown) => (typeof value === 'bigint' ? new Date(Number(value)) : undefined);
  const looked = idleRuns.findLast(({ mode }) => mode !== 'feed');
  return {
    items,
    since:
      read(row?.since) ?? new Date(idleRuns.find(({ listing_unknown }) => listing_unknown !== 0n)?.started_at ?? 0),
    lookedAt: looked === undefined ? read(row?.looked_at) : new Date(looked.started_at),
  };
}
