/** The sockets of a run, into which wings plug. A run works without any. */

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

/** A place beyond this disk that keeps copies of a lake's files. */
export interface Store {
  /** Fetches data files that are not on this disk. */
  provide: Lake['provide'];
  /** Keeps what has landed, before tables that follow from it are published. */
  saveLanding(): Promise<void>;
  publish(): Promise<void>;
}

/** Makes tables that follow from those of the copy, or from settings of the pipeline. */
export interface Deriver {
  /** The tables that it makes. */
  readonly tables: readonly TableName[];
  /** Tables of other derivers that it reads, so it comes after these. */
  readonly reads?: readonly TableName[];
  /** True if its tables are to be made even if nothing else changed, because settings have. */
  isDue?(found: SettingFacts): boolean;
  /** Stages their next files. @param next the lake as it would be, with the tables that are staged before them */
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
  /** Their rows after the run. */
  merged: Relation;
  /** Their rows before it. */
  before: Relation;
  /** Their number; undefined if all rows are new. */
  changed: bigint | undefined;
}

/** The changes that the run has applied to the copy. */
export interface CopiedNews {
  merge: MergedItems;
  /** Sources that became stale, or are no longer stale. */
  flipped: Relation;
  moment: Moment;
  /** For files that only this try reads. */
  workFolder: string;
}

/** The moment that dates what a run finds. */
export interface Moment {
  /** By this machine's clock, ISO 8601. */
  at: string;
  /** By the service's; null if its answers don't say. */
  serviceAt: string | null;
}

/**
 * Compares what earlier tries of a run have landed with its checksums, and takes altered bytes back, so that they are read
 * again. Without it, a run trusts the disk.
 * @param run `requiresHeld`: its batch is to be published as it is; `isCommitted`: it has committed a table
 * @returns undefined where the run was dropped, which costs calls alone
 */
export type MendLanding = (
  landing: Landing,
  run: { requiresHeld: boolean; isCommitted: boolean },
  io: Io,
) => Promise<Landing | undefined>;

/**
 * Establishes which items are listed if the rows that a run has read don't say it: it asks for the service's own counts,
 * and reads items of the parts whose counts differ. Without it, items that a complete copy lacks stay as they are, and a run by polling
 * says that it does not know.
 */
export interface ListingProof {
  /** Asks for the counts right behind a copy. A later try does not ask again. */
  ask(world: Pick<ListedRun, 'client' | 'io' | 'look'>, landing: Landing, plan: ComparisonPlan): Promise<void>;
  /** Adds the items that it reads to the typing. Journals what is not established, and items that are gone. */
  establish(run: ListedRun): Promise<Absence>;
  /** Prices how a poll establishes it; undefined if that is done. */
  estimate(next: NextPoll): Promise<CallEstimate | undefined>;
}

/** A poll that has not begun, or was interrupted. */
export interface NextPoll extends Pick<NextRun, 'before' | 'graph' | 'journal' | 'callsLeft'> {
  client: ApiClient;
  tables: FoundLake['tables'];
  selection: DatasetSelection;
}

/** Asks websites when their items were last seen. Without it, only the rows that a run reads show that. */
export interface Probe {
  /** The websites that this try asks after the feed; undefined if that is not due, or if no call is left for it. */
  choose(run: ProbedRun): Promise<readonly bigint[] | undefined>;
  /** Asks them, and journals the answers. A run continues without them if it can't ask. */
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

/** True if a listed item, or one that is no longer listed, is gone if a complete copy lacks it. */
export interface Absence {
  listed: boolean;
  removed: boolean;
}

/** The lake's items, and what the run has read so far. */
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
    /** For further calls; undefined if all has landed. */
    account: Account | undefined;
  };
  /** Items before the run. */
  items: Relation;
  changes: Relation;
  /** Changes that are not yet in items. */
  pending: Relation;
  names: DatasetNames;
  /** Datasets as the service describes them. */
  datasets: LandedDatasets['datasets'];
  reader: ItemReader;
  moment: Moment;
}

/** Examines the lake as it would be. @throws PricelakeError `gate_failed` where it must not be published */
export type Audit = (run: AuditedRun) => Promise<Audited>;

export interface AuditedRun {
  io: Io;
  found: FoundLake;
  landing: Landing;
  memory: Memory;
  graph: RelationGraph;
  next: NextLake;
  merge: MergedItems;
  /** Rows that the ledger gets. */
  rows: readonly RunsRow[];
  /** True where a person lets the batch through whatever is found. */
  isWaived: boolean;
}

export interface Audited {
  checks: CheckResult[];
  /** Notes what the next run needs. Call it after the publication. */
  keep(): Promise<void>;
}

/** Writes files of tables again, with the same rows, so that readers of the lake find them quickly and with plain globs. */
export interface Upkeep {
  /** Finishes what another command began and a crash has cut off, before a run reads the logs. */
  recover(lake: Lake): Promise<void>;
  /** Does so before a run reads its tables. Returns true if a table has other files now. */
  prepare(db: Database, lake: Lake, tables: Readonly<Record<TableName, TableState>>, io: Io): Promise<boolean>;
  /** Does so for the tables that have no file, when the others are committed. */
  complete(db: Database, lake: Lake, run: CommittedRun): Promise<void>;
  /** Does so behind a publication. */
  tidy(db: Database, lake: Lake, io: Io, options: TidyOptions): Promise<void>;
}

/** A run whose tables are committed. */
export interface CommittedRun {
  /** Tables without files. Only these are read: each log takes some milliseconds. */
  empty: readonly TableName[];
  commit: CommitInfo;
  /** Key-value metadata of each file. */
  metadata: Record<string, string>;
  /** Columns by which new tables are partitioned; default: as schemas/<table>.yaml says. */
  partitionBy: Partial<Record<TableName, string[] | undefined>>;
}

export interface TidyOptions {
  stop?: AbortSignal | undefined;
  /** Size of files to aim at. */
  targetBytes?: number | undefined;
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

export interface SourceEstimate extends StepEstimate {
  /** True if the step brings changes. */
  bringsChanges: boolean;
}
