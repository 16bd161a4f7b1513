import type { PricelakeError } from '../io/errors.js';
import type { BrokenExport } from '../journal/memory.js';
import type { RunProgress } from '../journal/run-state.js';
import type { FeedOverlap } from '../tables/cursor-window.js';
import type { DatasetSelection, RunMode } from '../tables/table.js';
import type { Allowance } from './allowance.js';
import type { Counts, Dataset } from './plan-shards.js';

/**
 * Facts for the plan of a run. Settings, lake, account and journal are known when it begins. The others are undefined
 * until the run has asked for them; `RunPlan.lacks` names the next one.
 */
export interface RunFacts {
  now: Date;
  settings: RunSettings;
  lake: LakeFacts;
  /** Undefined for a run that has made its calls and only has to publish. */
  account: AccountFacts | undefined;
  /** The run's journal. */
  landed: RunProgress;
  /** True where the journal names the try that the facts are for. */
  isAtWork: boolean;
  /** Datasets that the key can read. */
  readable?: readonly { id: bigint; items: bigint }[] | undefined;
  /** Websites with listed items, the one whose source was read longest ago first. */
  sites?: readonly bigint[] | undefined;
  /** Time of the last poll or of the items' newest change, in ms since the epoch. */
  polledAt?: number | undefined;
  /** Numbers of items of the parts that are copied whole. */
  counts?: ReadonlyMap<Dataset, bigint> | undefined;
  /** Listed items of parts that are large enough to be split. */
  listed?: ReadonlyMap<Dataset, Counts['listed']> | undefined;
  /** The service's reason to refuse the feed's cursor. */
  cursorRefused?: string | undefined;
  /** Number of landed changes whose items nothing names; undefined for none. */
  unnamed?: bigint | undefined;
  /** An export of this try that the service cut at the monthly limit, or that the gate refused. */
  cut?: PricelakeError | undefined;
}

/** Settings of pipeline file and command line. */
interface RunSettings {
  mode: 'auto' | RunMode;
  history: 'feed' | 'none' | 'items';
  selection: DatasetSelection;
  /** Milliseconds between two complete comparisons; undefined if none is wanted. */
  reconcileEvery: number | undefined;
  /** Milliseconds between two looks at when websites were seen; undefined if none is wanted. */
  probeEvery: number | undefined;
  splitAbove: bigint;
  products: 'all' | 'none';
  proof: { sample: number; products: boolean; facets: boolean };
}

/** The lake before the run. */
export interface LakeFacts {
  hasItems: boolean;
  hasCursor: boolean;
  /** The cursor before the run committed anything; undefined if the lake had none. */
  cursor: bigint | undefined;
  /** Changes up to the cursor that are read again; undefined for none. */
  overlap: FeedOverlap | undefined;
  /** Rows of a complete copy, as far as the lake shows. */
  rows: bigint;
  /** Datasets that it copies; undefined while it is empty. */
  selection: DatasetSelection | undefined;
  /** Datasets that it records as copied. */
  copied: readonly bigint[];
  /** Datasets in its table `datasets`. */
  seen: readonly bigint[];
  caughtUpAt: Date | undefined;
  snapshotAt: Date | undefined;
  /** When websites were last asked when they were seen. */
  probedAt: Date | undefined;
  /** Undefined if the listing of all items is known. */
  unknownListing: UnknownListing | undefined;
  /** True if another program changed tables, which only a complete copy repairs. */
  isDamaged: boolean;
}

/** Items that may no longer be listed, because runs could not find out. */
export interface UnknownListing {
  /** An upper bound. */
  items: bigint;
  /** Start of the first run that could not find out. */
  since: Date;
  /** Start of the last run that read items to find out; undefined if none did. */
  lookedAt: Date | undefined;
}

/** The account's plan and its rest. */
export interface AccountFacts {
  name: string;
  upgradeUrl: string;
  hasFeed: boolean;
  historyDays: number | null;
  /** The allowance left, less the rows of exports under way. */
  allowance: Allowance;
  /** Calls of this process: no fewer than since `allowance` was read. */
  callsMade: bigint;
  /** Exports that broke off in earlier runs. */
  broken: readonly BrokenExport[];
}
