/** The extension points of a run, which optional modules (wings) implement. A run works without any module. */

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

/** Remote storage that keeps copies of the lake's files. */
export interface Store {
  /** Downloads data files that are missing on this disk. */
  provide: Lake['provide'];
  /** Copies the landed files to the store, before tables computed from them are published. */
  saveLanding(): Promise<void>;
  publish(): Promise<void>;
}

/** A module that computes tables from the copied tables or from pipeline settings. */
export interface Deriver {
  /** The tables that this module writes. */
  readonly tables: readonly TableName[];
  /** Tables that this module reads and other modules write. They are computed first. */
  readonly reads?: readonly TableName[];
  /** True if settings have changed, so that its tables must be recomputed even if no copied table changed. */
  isDue?(found: SettingFacts): boolean;
  /** Stages new files for its tables. @param next the lake after the run, with the tables that are staged so far */
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
  /** The rows of these items after the run. */
  merged: Relation;
  /** The rows of these items before the run. */
  before: Relation;
  /** The number of changed items; undefined if all rows are new. */
  changed: bigint | undefined;
}

/** The changes that a run has made to the copied tables. */
export interface CopiedNews {
  merge: MergedItems;
  /** Sources that became stale, or are no longer stale. */
  flipped: Relation;
  moment: Moment;
  /** A folder for files that only this attempt reads. */
  workFolder: string;
}

/** The time that a run records for its findings. */
export interface Moment {
  /** The time of this machine's clock, as ISO 8601. */
  at: string;
  /** The time of the service's clock; null if its responses have no `Date` header. */
  serviceAt: string | null;
}

/**
 * Verifies the checksums of files that earlier attempts of a run have landed, and discards altered ones, so that they
 * are requested again. Without this module, a run trusts the disk.
 * @param run `requiresHeld`: the run may only publish its held batch; `isCommitted`: the run has committed a table
 * @returns undefined if the run was dropped, which wastes only calls
 */
export type MendLanding = (
  landing: Landing,
  run: { requiresHeld: boolean; isCommitted: boolean },
  io: Io,
) => Promise<Landing | undefined>;

/**
 * Determines which items are still listed if the rows that a run has read don't show it. Requests the service's counts,
 * and reads the items of parts whose counts differ. Without this module, items missing from a complete copy stay
 * unchanged, and a polling run records their listing state as unknown.
 */
export interface ListingProof {
  /** Requests the counts immediately after a copy. Later attempts reuse them. */
  ask(world: Pick<ListedRun, 'client' | 'io' | 'look'>, landing: Landing, plan: ComparisonPlan): Promise<void>;
  /** Adds the items that it reads to the typing queue. Journals unresolved parts, and items that are gone. */
  establish(run: ListedRun): Promise<Absence>;
  /** Estimates the calls for determining the listing state in a poll; undefined if the poll has already done so. */
  estimate(next: NextPoll): Promise<CallEstimate | undefined>;
}

/** A poll that hasn't begun, or was interrupted. */
export interface NextPoll extends Pick<NextRun, 'before' | 'graph' | 'journal' | 'callsLeft'> {
  client: ApiClient;
  tables: FoundLake['tables'];
  selection: DatasetSelection;
}

/** Finds out when sources were last read. Without this module, only the rows that a run reads show this time. */
export interface Probe {
  /** Returns the websites to query after the feed is read, or undefined if none is due or no calls are left. */
  choose(run: ProbedRun): Promise<readonly bigint[] | undefined>;
  /** Queries these websites and journals the results. If the service fails, the run continues without them. */
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

/** For listed and for removed items: true if an item that a complete copy lacks is gone. */
export interface Absence {
  listed: boolean;
  removed: boolean;
}

/** The lake's items, and the data that the run has read so far. */
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
    /** The account, for further calls; undefined if the run makes no further calls. */
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

/** Checks the lake as the run would publish it. @throws PricelakeError `gate_failed` if it must not be published */
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
  /** True if the user chose to publish the batch regardless of failed gates. */
  isWaived: boolean;
}

export interface Audited {
  checks: CheckResult[];
  /** Saves facts for the next run. Call it after publication. */
  keep(): Promise<void>;
}

/** Rewrites table files with the same rows, so that readers find rows quickly and can use plain globs. */
export interface Upkeep {
  /** Completes rewrites that a crash interrupted, before a run reads the logs. */
  recover(lake: Lake): Promise<void>;
  /** Rewrites files before a run reads the tables. Returns true if a table has new files. */
  prepare(db: Database, lake: Lake, tables: Readonly<Record<TableName, TableState>>, io: Io): Promise<boolean>;
  /** Writes a file for each table that has no files, after the run's tables are committed. */
  complete(db: Database, lake: Lake, run: CommittedRun): Promise<void>;
  /** Rewrites files after publication. Stopping it loses nothing. */
  tidy(db: Database, lake: Lake, io: Io, options: TidyOptions): Promise<void>;
}

/** A run whose tables are committed. */
export interface CommittedRun {
  /** Tables without files. Only the logs of these tables are read, because each log takes several milliseconds. */
  empty: readonly TableName[];
  commit: CommitInfo;
  /** Key-value metadata for each file. */
  metadata: Record<string, string>;
  /** The partition columns of new tables; by default, the columns given in schemas/<table>.yaml. */
  partitionBy: Partial<Record<TableName, string[] | undefined>>;
}

export interface TidyOptions {
  stop?: AbortSignal | undefined;
  /** The target file size in bytes. */
  targetBytes?: number | undefined;
}

/**
 * Supplies changes from a source other than the feed, and stores them until a run lands them. The run's journal lists
 * the landed rows (`source.rows`), so a later attempt doesn't depend on the source.
 */
export interface ChangeSource {
  /** Copies the stored changes to the run's folder and journals them. Continues after an earlier attempt. */
  land(landing: Landing, lake: Lake, io: Io): Promise<void>;
  /** Deletes the landed changes, because they are in history now. Repeated by the next run if the process is killed. */
  settle(landing: Landing, kept: { lake: Lake; memory: Memory; io: Io }): Promise<void>;
  /** True if some stored changes haven't been landed. */
  hasWaiting(lake: Lake): Promise<boolean>;
  /** Estimates the source's calls before and after the next run, or returns undefined if it makes none. */
  estimate?(next: NextRun): Promise<SourceEstimate | undefined>;
}

/** A run that hasn't begun, or was interrupted. */
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
  /** The number of items in the run's complete copy; undefined if it makes none. */
  copied: bigint | undefined;
}

export interface SourceEstimate extends StepEstimate {
  /** True if the step lands changes. */
  bringsChanges: boolean;
}
