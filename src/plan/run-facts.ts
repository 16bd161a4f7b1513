import type { PricelakeError } from '../errors/errors.js';
import type { BrokenExport } from '../journal/memory.js';
import type { DatasetSelection, RunMode } from '../tables/table.js';
import type { Allowance } from './allowance.js';
import type { ModeChoice, UnknownListing } from './choose-mode.js';
import type { Counts, Dataset, Shard } from './plan-shards.js';

/**
 * What a run is planned from. Settings, lake, account and journal are known when it begins; the rest comes while it
 * lands, and is undefined until then. The plan names what it lacks (`RunPlan.lacks`).
 */
export interface RunFacts {
  now: Date;
  settings: RunSettings;
  lake: LakeFacts;
  /** Undefined for a run whose calls are made: it only has to publish what has landed. */
  account: AccountFacts | undefined;
  landed: LandedFacts;
  /** Datasets that the key can read. */
  readable?: readonly { id: bigint; items: bigint }[] | undefined;
  /** When the items were polled last, or showed their newest change; ms since the epoch. */
  polledAt?: number | undefined;
  /** Where the service was before whole rows were read. */
  lowWatermark?: LowWatermarkFacts | undefined;
  /** Items of each part that is copied whole. */
  counts?: ReadonlyMap<Dataset, bigint> | undefined;
  /** Listed items of the parts that are large enough to be split. */
  listed?: ReadonlyMap<Dataset, Counts['listed']> | undefined;
  /** Why the service refused the cursor of the feed. */
  cursorRefused?: string | undefined;
  /** Changes of the feed that has landed whose items nothing names; undefined where there are none. */
  unnamed?: bigint | undefined;
  /** An export of this try that the service cut at the monthly limit, or that the gate refused for it. */
  cut?: PricelakeError | undefined;
}

/** What the pipeline and the command line ask for. */
export interface RunSettings {
  mode: 'auto' | RunMode;
  history: 'feed' | 'none' | 'items';
  selection: DatasetSelection;
  /** Milliseconds between two complete comparisons; undefined when none is wanted. */
  reconcileEvery: number | undefined;
  splitAbove: bigint;
  products: 'all' | 'none';
  proof: { sample: number; products: boolean; facets: boolean };
}

/** The lake before the run. */
export interface LakeFacts {
  hasItems: boolean;
  hasCursor: boolean;
  /** The cursor that the run found, before it committed anything; undefined where the lake had none. */
  cursor: bigint | undefined;
  /** Rows that a complete copy takes, as far as the lake shows. */
  rows: bigint;
  /** What it is a copy of; undefined where it holds nothing yet. */
  selection: DatasetSelection | undefined;
  /** Datasets that it notes a copy of. */
  copied: readonly bigint[];
  /** Datasets of its table `datasets`. */
  seen: readonly bigint[];
  caughtUpAt: Date | undefined;
  snapshotAt: Date | undefined;
  /** Undefined where it is known of all items whether they are listed. */
  unknownListing: UnknownListing | undefined;
  /** True where another program changed tables: only a complete copy repairs them. */
  isDamaged: boolean;
}

/** The plan of the account, and what is left of it. */
export interface AccountFacts {
  name: string;
  upgradeUrl: string;
  hasFeed: boolean;
  historyDays: number | null;
  /** What may still be taken, less what exports under way may take. */
  allowance: Allowance;
  /** Calls that the process has made since `allowance` was read. */
  callsMade: bigint;
  /** Exports that broke off in the runs before. */
  broken: readonly BrokenExport[];
}

export interface LowWatermarkFacts {
  /** Newest change of the feed; undefined without a feed. */
  cursor: bigint | undefined;
  /** Behind it the last hour of changes begins; undefined where the feed is read from further back. */
  from: bigint | undefined;
  /** When the item that changed last did so, ISO 8601. */
  changedAt: string | undefined;
}

/** What the run's journal says of its tries so far. */
export interface LandedFacts {
  decision: ModeChoice | undefined;
  /** True where this try has made it: then it holds. */
  isDecidedNow: boolean;
  /** When the try before this one began. */
  triedAt: Date | undefined;
  hasWatermark: boolean;
  /** True where any rows of a copy have landed. */
  hasCopy: boolean;
  shards: readonly Shard[] | undefined;
  /** Names of the shards that are complete. */
  exported: readonly string[];
  /** What was polled of each part. */
  polls: ReadonlyMap<Dataset, PolledPages>;
  isFeedDone: boolean;
}

/** Pages of items of a part that have landed. */
export interface PolledPages {
  /** Those of all its items. */
  wholePages: number;
  /** Rows and pages of the last round, of items that changed since; null for all items. */
  round: { rows: bigint; pages: number; since: string | null };
  isDone: boolean;
}
