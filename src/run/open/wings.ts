/** The sockets of a run, into which more may plug. It works without any of them. */

import type { Pipeline } from '../../config/pipeline-file.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Memory } from '../../journal/memory.js';
import type { RunState } from '../../journal/run-state.js';
import type { Lake } from '../../lake/lake.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';

export interface Wings {
  store?: Store | undefined;
  sources: readonly ChangeSource[];
}

export const NO_WINGS: Wings = { sources: [] };

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
