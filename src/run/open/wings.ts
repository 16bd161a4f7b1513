/** The sockets of a run, into which more may plug. It works without any of them. */

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

/** A place beside this disk that keeps copies of the files of a lake. */
export interface Store {
  /** Fetches data files that are not on this disk. */
  bring: Lake['bring'];
  /** Keeps what has landed, before tables that follow from it are published. */
  saveLanding(): Promise<void>;
  /** Publishes there what the run has published here. */
  publish(): Promise<void>;
}

/**
 * Brings changes to the lake beside the feed. It keeps them until a run lands them. The run's journal names what has landed
 * (`source.rows`), so that a try that continues needs nothing else of the source.
 */
export interface ChangeSource {
  /** Copies what waits into the run's folder, and journals it. An earlier try may have landed some or all of it. */
  land(landing: Landing, lake: Lake, io: Io): Promise<void>;
  /** Forgets what the run has landed, because it is in history. A run that is killed here does it again. */
  settle(landing: Landing, kept: { lake: Lake; memory: Memory; io: Io }): Promise<void>;
  /** True where something waits for a run. */
  hasWaiting(lake: Lake): Promise<boolean>;
  /** Prices what the source asks the service for around the next run; undefined for nothing. */
  estimate?(next: NextRun): Promise<SourceEstimate | undefined>;
}

/** A run that has not begun, or was interrupted. */
export interface NextRun {
  pipeline: Pipeline;
  lake: Lake;
  /** True while the lake has no items. */
  isFirst: boolean;
  before: LakeRows;
  graph: RelationGraph;
  journal: { readonly state: RunState };
  /** Calls that the account has left; null is unlimited. */
  callsLeft: bigint | null;
  /** Items that it copies whole; undefined for a run without a complete copy. */
  copied: bigint | undefined;
}

export interface SourceEstimate {
  /** The name of the step in the plan. */
  step: string;
  calls: number;
  basis: string;
  /** True if changes come of it. */
  bringsChanges: boolean;
}

/** Compares the lake with the service. It only reports: a run that can't ask continues without it. */
export interface Witness {
  /** Begins to watch a run. */
  watch(run: WatchedRun): Watch;
  /** Prices what it asks the service for during the next run, by its plan; undefined for nothing. */
  estimate?(next: PlannedNext): Promise<Pick<SourceEstimate, 'step' | 'calls' | 'basis'> | undefined>;
}

/** A witness at a run. */
export interface Watch {
  /** Gets parsed rows of answers on their way. */
  look?: LookAtRow;
  /** Chooses what to ask. The work that it returns asks for it while tables are derived. */
  ask?(next: NextVersion): Promise<() => Promise<void>>;
  judge?(next: NextVersion): Promise<Testimony>;
  /** Says at the end of any run what it has seen. */
  conclude?(): Findings;
}

/** Columns that witnesses give to the run's row of the ledger, where none has looked. */
export const NOTHING_WITNESSED = {
  ...{ sampled: 0n, sample_mismatches: 0n, mismatch_bound: 1, sample_differences: '[]' },
  ...{ products_compared: 0n, products_different: 0n, product_differences: '[]' },
  ...{ facets_compared: 0n, facets_different: 0n, facet_differences: '[]', schema_drift: '[]' },
};

export type Findings = Partial<typeof NOTHING_WITNESSED>;

export interface Testimony {
  findings: Findings;
  /** New rows of a table that nobody else writes. */
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
  /** Shows a row to all witnesses. */
  look: LookAtRow;
}

/** The lake as it would be, as far as its tables are staged, and what the run knows of it. */
export interface NextVersion {
  rows(table: TableName): Promise<Relation>;
  plan: ComparisonPlan;
  /** Names of the datasets that the key can read; undefined is all. */
  readable: readonly string[] | undefined;
  /** The change up to which items are applied; undefined without the feed. */
  cursor: bigint | undefined;
  /** Up to when a lake without the feed is complete, ISO 8601; null is not known. */
  lowWatermark: string | null;
  skew: FeedSkew;
  /** Finds names of datasets in texts (dataset-names.ts). */
  datasetPattern: string | null;
  /** Items that the run has read one by one already. */
  alreadyRead: readonly bigint[];
}

/** By its plan, the run compares so much, with parts of what the key can read. */
export interface ComparisonPlan {
  comparisons: ProofPlan;
  parts: readonly Dataset[];
}

export interface PlannedNext {
  plan: ComparisonPlan;
  client: ApiClient;
  journal: { readonly state: RunState };
}
