/** The sockets of a run, into which wings plug. A run works without any. */

import type { ApiClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline-schema.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Memory } from '../../journal/memory.js';
import type { RunState } from '../../journal/run-state.js';
import type { Lake } from '../../lake/lake.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { ProofPlan } from '../../plan/plan-proofs.js';
import type { Dataset } from '../../plan/plan-shards.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import type { LookAtRow, TableName, TableState } from '../../tables/table.js';
import type { FeedSkew } from '../../typing/feed-skew.js';
import type { TypingQueue } from '../../typing/typing-queue.js';

export interface Wings {
  store?: Store | undefined;
  sources: readonly ChangeSource[];
  witnesses: readonly Witness[];
}

export const NO_WINGS: Wings = { sources: [], witnesses: [] };

/** A place beyond this disk that keeps copies of a lake's files. */
export interface Store {
  /** Fetches data files that are not on this disk. */
  bring: Lake['bring'];
  /** Keeps what has landed, before tables that follow from it are published. */
  saveLanding(): Promise<void>;
  publish(): Promise<void>;
}

/**
 * Brings changes to the lake beside the feed. It keeps them until a run lands them. The run's journal names what has
 * landed (`source.rows`), so that a later try needs nothing else from the source.
 */
export interface ChangeSource {
  /** Copies what waits into the run's folder, and journals it. An earlier try may have landed some or all of it. */
  land(landing: Landing, lake: Lake, io: Io): Promise<void>;
  /** Forgets what the run has landed, because it is in history. A run that is killed here repeats this. */
  settle(landing: Landing, kept: { lake: Lake; memory: Memory; io: Io }): Promise<void>;
  /** True if something waits for a run. */
  hasWaiting(lake: Lake): Promise<boolean>;
  /** Prices the source's calls before and after the next run; undefined if there are none. */
  estimate?(next: NextRun): Promise<SourceEstimate | undefined>;
}

/** A run that has not begun, or was interrupted. */
export interface NextRun {
  pipeline: Pipeline;
  lake: Lake;
  /** True if the lake has no items yet. */
  isFirst: boolean;
  before: LakeRows;
  graph: RelationGraph;
  journal: { readonly state: RunState };
  /** The calls that the account has left; null is unlimited. */
  callsLeft: bigint | null;
  /** The number of items that it copies whole; undefined for a run without a complete copy. */
  copied: bigint | undefined;
}

export interface SourceEstimate {
  step: string;
  calls: number;
  basis: string;
  /** True if the step brings changes. */
  bringsChanges: boolean;
}

/** Compares the lake with the service and reports differences. A run continues without it if it can't ask. */
export interface Witness {
  watch(run: WatchedRun): Watch;
  /** Prices its calls during the next run, by the run's plan; undefined if there are none. */
  estimate?(next: PlannedNext): Promise<Pick<SourceEstimate, 'step' | 'calls' | 'basis'> | undefined>;
}

export interface Watch {
  look?: LookAtRow;
  /** Chooses what to ask. The returned function makes the calls while tables are derived. */
  ask?(next: NextVersion): Promise<() => Promise<void>>;
  judge?(next: NextVersion): Promise<Testimony>;
  conclude?(): Findings;
}

/** The columns of witnesses in the run's row of the ledger if no witness has looked. */
export const NOTHING_WITNESSED = {
  ...{ sampled: 0n, sample_mismatches: 0n, mismatch_bound: 1, sample_differences: '[]' },
  ...{ products_compared: 0n, products_different: 0n, product_differences: '[]' },
  ...{ facets_compared: 0n, facets_different: 0n, facet_differences: '[]', schema_drift: '[]' },
};

export type Findings = Partial<typeof NOTHING_WITNESSED>;

export interface Testimony {
  findings: Findings;
  /** New rows of a table that only this witness writes. */
  table?: { name: TableName; rows: Relation } | undefined;
}

export interface WatchedRun {
  pipeline: Pipeline;
  io: Io;
  client: ApiClient;
  landing: Landing;
  /** The lake before the run. */
  tables: Readonly<Record<TableName, TableState>>;
  graph: RelationGraph;
  typing: TypingQueue;
  workFolder: string;
  look: LookAtRow;
}

/** The lake as this run would publish it, as far as its tables are staged, and facts about the run. */
export interface NextVersion {
  rows(table: TableName): Promise<Relation>;
  plan: ComparisonPlan;
  /** The names of the datasets that the key can read; undefined for all. */
  readable: readonly string[] | undefined;
  /** The last change applied to items; undefined without the feed. */
  cursor: bigint | undefined;
  /** For a lake without the feed, the time up to which it is complete, ISO 8601; null if unknown. */
  lowWatermark: string | null;
  skew: FeedSkew;
  /** A pattern that finds the names of datasets in texts (dataset-names.ts). */
  datasetPattern: string | null;
  alreadyRead: readonly bigint[];
}

/** The amount that the run compares by its plan, in parts of what the key can read. */
export interface ComparisonPlan {
  comparisons: ProofPlan;
  parts: readonly Dataset[];
}

export interface PlannedNext {
  plan: ComparisonPlan;
  client: ApiClient;
  journal: { readonly state: RunState };
}
