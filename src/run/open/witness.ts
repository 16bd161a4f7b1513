/** The extension point for wings that compare the lake with the service. */

import type { ApiClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Dataset } from '../../journal/run-entry.js';
import type { RunState } from '../../journal/run-state.js';
import type { ProofPlan } from '../../plan/plan-proofs.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import type { LookAtRow, TableName, TableState } from '../../tables/table.js';
import type { FeedSkew } from '../../typing/feed-skew.js';
import type { TypingQueue } from '../../typing/typing-queue.js';

/** The calls that a wing makes in the next run. */
export interface CallEstimate {
  calls: number;
  basis: string;
}

export interface StepEstimate extends CallEstimate {
  step: string;
}

/** Compares the lake with the service. If the service does not answer, the run continues without the comparison. */
export interface Witness {
  watch(run: WatchedRun): Watch;
  /** Estimates the witness's calls in the next run, by the run's plan; undefined if it makes none. */
  estimate?(next: PlannedNext): Promise<StepEstimate | undefined>;
}

export interface Watch {
  look?: LookAtRow;
  /** Reads a sample of items that only changes describe, and compares the values that the changes leave out. */
  compareDescribed?(described: DescribedItems): Promise<DescribedSample>;
  /** Chooses what to request. The returned function sends the requests while tables are derived. */
  ask?(next: NextVersion): Promise<() => Promise<void>>;
  judge?(next: NextVersion): Promise<Testimony>;
  conclude?(): Findings;
}

/** The ledger columns of witnesses for a run in which no witness compared anything. */
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

/** The changed items whose new values come only from changes. */
export interface DescribedItems {
  plan: ComparisonPlan;
  /** False if the run makes no further calls. */
  mayAsk: boolean;
  /** The rows of these items before the run. */
  items: Relation;
  /** The changes of these items. */
  pending: Relation;
  /** Items that the run reads whole in any case, and items that it has read. */
  needed: Relation;
  exported: Relation;
  skew: FeedSkew;
  datasetPattern: string | null;
}

/** The result of comparing a sample of these items. */
export interface DescribedSample {
  ids: readonly bigint[];
  /** True if, for any sampled item, the service shows a changed value that the item's changes do not contain. */
  isPartial: boolean;
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

/** The lake as this run would publish it, with the tables staged so far, and facts about the run. */
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

/** The amount that the run compares by its plan, in parts of the data that the key can read. */
export interface ComparisonPlan {
  comparisons: ProofPlan;
  parts: readonly Dataset[];
}

export interface PlannedNext {
  plan: ComparisonPlan;
  client: ApiClient;
  journal: { readonly state: RunState };
}
