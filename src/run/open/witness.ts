/** The interface for modules, called witnesses, that compare the lake with the service during a run. */

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

/** The calls that a module is expected to make in the next run. */
export interface CallEstimate {
  calls: number;
  basis: string;
}

export interface StepEstimate extends CallEstimate {
  step: string;
}

/** Compares the lake with the service. If the service doesn't respond, the run continues without the comparison. */
export interface Witness {
  watch(run: WatchedRun): Watch;
  /** Estimates the module's calls in the next run from the run's plan; undefined if the module makes no calls. */
  estimate?(next: PlannedNext): Promise<StepEstimate | undefined>;
}

export interface Watch {
  look?: LookAtRow;
  /** Reads a sample of items whose new values come only from changes, to find values that the changes omit. */
  compareDescribed?(described: DescribedItems): Promise<DescribedSample>;
  /** Chooses the requests to make. The returned function makes them while tables are derived. */
  ask?(next: NextVersion): Promise<() => Promise<void>>;
  judge?(next: NextVersion): Promise<Testimony>;
  conclude?(): Findings;
}

/** Columns of the runs table for a run in which no module compared anything. */
export const NOTHING_WITNESSED = {
  ...{ sampled: 0n, sample_mismatches: 0n, mismatch_bound: 1, sample_differences: '[]' },
  ...{ products_compared: 0n, products_different: 0n, product_differences: '[]' },
  ...{ facets_compared: 0n, facets_different: 0n, facet_differences: '[]', schema_drift: '[]' },
};

export type Findings = Partial<typeof NOTHING_WITNESSED>;

export interface Testimony {
  findings: Findings;
  /** A table that only this module writes, and its new rows. */
  table?: { name: TableName; rows: Relation } | undefined;
}

/** The changed items whose new values come only from changes. */
export interface DescribedItems {
  plan: ComparisonPlan;
  /** True if the run may make more calls. */
  mayAsk: boolean;
  /** The rows of these items before the run. */
  items: Relation;
  /** The changes of these items. */
  pending: Relation;
  /** The items that the run will read in full. Complete rows that it has already read are in `exported`. */
  needed: Relation;
  exported: Relation;
  skew: FeedSkew;
  datasetPattern: string | null;
}

/** The result of comparing a sample of the changed items. */
export interface DescribedSample {
  ids: readonly bigint[];
  /** True if a value of a sampled item has changed without appearing in the item's changes. */
  isPartial: boolean;
}

export interface WatchedRun {
  pipeline: Pipeline;
  io: Io;
  client: ApiClient;
  landing: Landing;
  /** The lake's tables before the run. */
  tables: Readonly<Record<TableName, TableState>>;
  graph: RelationGraph;
  typing: TypingQueue;
  workFolder: string;
  look: LookAtRow;
}

/** The part of the next version that is already staged, and facts about the run. */
export interface NextVersion {
  rows(table: TableName): Promise<Relation>;
  plan: ComparisonPlan;
  /** The names of the datasets that the key can read; undefined if it can read all datasets. */
  readable: readonly string[] | undefined;
  /** The id of the last change applied to items; undefined for a lake that doesn't use the feed. */
  cursor: bigint | undefined;
  /** For a lake without the feed, the time (ISO 8601) up to which the lake is complete; null if unknown. */
  lowWatermark: string | null;
  skew: FeedSkew;
  /** The pattern that finds dataset names in text (dataset-names.ts); null if no name is known. */
  datasetPattern: string | null;
  alreadyRead: readonly bigint[];
}

/** The comparisons that the run's plan includes, and the parts of the data that the key can read. */
export interface ComparisonPlan {
  comparisons: ProofPlan;
  parts: readonly Dataset[];
}

export interface PlannedNext {
  plan: ComparisonPlan;
  client: ApiClient;
  journal: { readonly state: RunState };
}
