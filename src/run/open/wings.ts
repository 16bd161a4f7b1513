/** The interfaces that optional modules (wings) implement to extend a run. A run works without any module. */

import type { ApiClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { LakeMemory, Memory } from '../../journal/memory.js';
import type { RunState } from '../../journal/run-state.js';
import type { CommitInfo } from '../../lake/commit.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RunFacts } from '../../plan/run-facts.js';
import type { LandedDatasets } from '../../source/datasets.js';
import type { Database } from '../../sql/connection.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import type { Lake } from '../../tables/layout.js';
import type { RunsRow } from '../../tables/rows.js';
import type { CheckResult, DatasetSelection, LookAtRow, RunMode, TableName, TableState } from '../../tables/table.js';
import type { DatasetNames } from '../../typing/dataset-names.js';
import type { ItemReader } from '../../typing/typed-rows.js';
import type { TypingQueue } from '../../typing/typing-queue.js';
import type { Account } from './account.js';
import type { FoundLake } from './open-tables.js';
import type { NextLake, StagedTable, Staging } from './stage.js';
import type { CallEstimate, ComparisonPlan, StepEstimate, Witness } from './witness.js';

export interface Wings {
  store?: Store | undefined;
  sources: readonly ChangeSource[];
  witnesses: readonly Witness[];
  derivers: readonly Deriver[];
  upkeep: readonly Upkeep[];
  audit?: Audit | undefined;
  mendLanding?: MendLanding | undefined;
  listing?: ListingProof | undefined;
  probe?: Probe | undefined;
}

export const NO_WINGS: Wings = { sources: [], witnesses: [], derivers: [], upkeep: [] };

/** Remote storage to which a module copies the lake's files. */
export interface Store {
  /** Downloads data files that this disk doesn't have. */
  provide: Lake['provide'];
  /** Copies the landed files to the store. A run calls this before it publishes tables computed from these files. */
  saveLanding(): Promise<void>;
  publish(): Promise<void>;
}

/** A module that computes tables from the copied tables or from pipeline settings. */
export interface Deriver {
  /** The tables that this module writes. */
  readonly tables: readonly TableName[];
  /** Tables of other modules that this module reads. They are computed before `derive` is called. */
  readonly reads?: readonly TableName[];
  /** True if changed settings require the module's tables to be recomputed, even if no copied table has changed. */
  isDue?(found: SettingFacts): boolean;
  /** Stages new files for the module's tables. @param next the lake after the run, as far as its tables are staged */
  derive(staging: Staging, next: NextLake, copied: CopiedNews): Promise<StagedTable[]>;
}

type SettingFacts = Pick<FoundLake, 'pipeline' | 'tables' | 'repairs'>;

export function lookAtDerivers(
  derivers: readonly Deriver[],
  facts: SettingFacts,
): Pick<FoundLake, 'derived' | 'isDue'> {
  return {
    derived: derivers.flatMap(({ tables }) => tables),
    isDue: derivers.some(({ isDue }) => isDue?.(facts) === true),
  };
}

/** The items that a run changes. */
export interface MergedItems {
  /** The rows of the changed items, as they are after the run. */
  merged: Relation;
  /** The rows of the changed items, as they were before the run. */
  before: Relation;
  /** The number of changed items; undefined if all rows are new. */
  changed: bigint | undefined;
}

/** The changes that a run makes in the copied tables. */
export interface CopiedNews {
  merge: MergedItems;
  /** Sources that became stale, or are no longer stale. */
  flipped: Relation;
  moment: Moment;
  /** A folder for temporary files of this attempt. */
  workFolder: string;
}

/** The time that a run records for its findings. */
export interface Moment {
  /** The time according to this machine's clock, in ISO 8601 format. */
  at: string;
  /** The time of the service's clock, or null if the service's responses have no `Date` header. */
  serviceAt: string | null;
}

/**
 * Verifies the checksums of files that earlier attempts of a run have landed. Discards altered files, so that the run
 * requests their data again. Without this module, a run doesn't verify the files.
 * @param run `requiresHeld`: true if it may only publish its held batch; `isCommitted`: true if it committed a table
 * @returns undefined if the run was dropped, because its data can be requested again
 */
export type MendLanding = (
  landing: Landing,
  run: { requiresHeld: boolean; isCommitted: boolean },
  io: Io,
) => Promise<Landing | undefined>;

/**
 * Determines which items are still listed, if the landed rows alone can't show this. Requests the service's counts, and
 * reads the items of each group whose count differs. Without this module, items missing from a complete copy stay
 * unchanged, and a run that polls records the listing state of all items as unknown.
 */
export interface ListingProof {
  /** Requests the counts immediately after a complete copy. Later attempts use the same counts. */
  ask(world: Pick<ListedRun, 'client' | 'io' | 'look'>, landing: Landing, plan: ComparisonPlan): Promise<void>;
  /** Passes the items that it reads to the typing queue. Journals gone items, and groups that remain unclear. */
  establish(run: ListedRun): Promise<Absence>;
  /** Estimates the calls that a poll still needs to determine the listing state; undefined if it needs none. */
  estimate(next: NextPoll): Promise<CallEstimate | undefined>;
}

/** A poll that hasn't started yet, or that was interrupted. */
export interface NextPoll extends Pick<NextRun, 'before' | 'graph' | 'journal' | 'callsLeft'> {
  client: ApiClient;
  tables: FoundLake['tables'];
  selection: DatasetSelection;
}

/** Requests the times at which sources were last seen. Without it, only the rows of a run show these times. */
export interface Probe {
  /** Chooses the websites to request after the feed is read; undefined if there are none or no calls are left. */
  choose(run: ProbedRun): Promise<readonly bigint[] | undefined>;
  /** Requests an item of each chosen website and journals it. If the service fails, the run continues anyway. */
  ask(run: ProbedRun & Pick<ListedRun, 'client' | 'io' | 'landing'> & { memory: Memory }): Promise<void>;
}

export interface ProbedRun {
  pipeline: Pipeline;
  mode: RunMode;
  facts: RunFacts;
  before: LakeRows;
  graph: RelationGraph;
  memory: { readonly state: LakeMemory };
}

/** True if a complete copy's lack of an item proves that the item is gone, for listed items and for removed items. */
export interface Absence {
  listed: boolean;
  removed: boolean;
}

/** A run that may determine which items are still listed, with the lake's items and the landed data. */
export interface ListedRun {
  client: ApiClient;
  io: Io;
  look: LookAtRow;
  found: FoundLake;
  landing: Landing;
  graph: RelationGraph;
  typing: TypingQueue;
  landed: {
    mode: RunMode;
    selection: DatasetSelection;
    /** Datasets that are new to the lake. */
    added: readonly bigint[];
    /** The account, if the run may make more calls. */
    account: Account | undefined;
  };
  /** The items before the run. */
  items: Relation;
  changes: Relation;
  /** Changes that haven't been applied to the items table. */
  pending: Relation;
  names: DatasetNames;
  /** The datasets, as the service describes them. */
  datasets: LandedDatasets['datasets'];
  reader: ItemReader;
  moment: Moment;
}

/** Checks the lake as the run would publish it. @throws PricelakeError `gate_failed` if a gate forbids publication */
export type Audit = (run: AuditedRun) => Promise<Audited>;

export interface AuditedRun {
  io: Io;
  found: FoundLake;
  landing: Landing;
  memory: Memory;
  graph: RelationGraph;
  next: NextLake;
  merge: MergedItems;
  /** The rows that the run adds to the runs table. */
  rows: readonly RunsRow[];
  /** True if the user chose to publish the batch even though gates failed. */
  isWaived: boolean;
}

export interface Audited {
  checks: CheckResult[];
  /** Saves state for the next run. The run calls this after publication. */
  keep(): Promise<void>;
}

/** Rewrites table files without changing their rows, so that readers find rows quickly and can use plain globs. */
export interface Upkeep {
  /** Finishes rewrites that a crash interrupted. The run calls this before it reads the logs. */
  recover(lake: Lake): Promise<void>;
  /** Rewrites files before the run reads the tables. Returns true if it has rewritten any file. */
  prepare(db: Database, lake: Lake, tables: Readonly<Record<TableName, TableState>>, io: Io): Promise<boolean>;
  /** Writes an empty file for each table without files. The run calls this after it has committed its tables. */
  complete(db: Database, lake: Lake, run: CommittedRun): Promise<void>;
  /** Rewrites files after publication. Interrupting it loses no data. */
  tidy(db: Database, lake: Lake, io: Io, options: TidyOptions): Promise<void>;
}

export interface CommittedRun {
  /** The tables without files. To find them itself, the module would have to read all logs, which is slow. */
  empty: readonly TableName[];
  commit: CommitInfo;
  /** Key-value metadata to write to each file. */
  metadata: Record<string, string>;
  /** The partition columns of new tables; defaults to the columns given in schemas/<table>.yaml. */
  partitionBy: Partial<Record<TableName, string[] | undefined>>;
}

export interface TidyOptions {
  stop?: AbortSignal | undefined;
  /** The target file size in bytes. */
  targetBytes?: number | undefined;
}

/**
 * Supplies changes that don't come from the feed, and stores them until a run lands them. The run's journal lists the
 * landed rows (`source.rows`), so later attempts don't need the source.
 */
export interface ChangeSource {
  /** Copies the stored changes to the run's folder and journals them. Continues where an earlier attempt stopped. */
  land(landing: Landing, lake: Lake, io: Io): Promise<void>;
  /** Deletes the landed changes, because history contains them now. If this is interrupted, the next run repeats it. */
  settle(landing: Landing, kept: { lake: Lake; memory: Memory; io: Io }): Promise<void>;
  /** True if some stored changes haven't been landed. */
  hasWaiting(lake: Lake): Promise<boolean>;
  /** Estimates the calls that this source adds to the next run, or returns undefined if it adds none. */
  estimate?(next: NextRun): Promise<SourceEstimate | undefined>;
}

/** A run that hasn't started yet, or that was interrupted. */
export interface NextRun {
  pipeline: Pipeline;
  lake: Lake;
  /** True if the lake has no items yet. */
  isFirst: boolean;
  before: LakeRows;
  graph: RelationGraph;
  journal: { readonly state: RunState };
  /** The account's remaining calls; null if unlimited. */
  callsLeft: bigint | null;
  /** The number of items that the run's complete copy contains; undefined if the run makes no complete copy. */
  copied: bigint | undefined;
}

export interface SourceEstimate extends StepEstimate {
  /** True if the step lands changes for the run. */
  bringsChanges: boolean;
}
