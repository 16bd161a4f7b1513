import type { PricelakeError } from '../io/errors.js';
import type { BrokenExport } from '../journal/memory.js';
import type { Dataset } from '../journal/run-entry.js';
import type { RunProgress } from '../journal/run-state.js';
import type { FeedOverlap } from '../tables/cursor-window.js';
import type { DatasetSelection, RunMode } from '../tables/table.js';
import type { Allowance } from './allowance.js';
import type { Counts } from './plan-shards.js';

/**
 * The facts for the plan of a run. Settings, lake, account and journal are known when it begins. The other facts are
 * undefined until the run has asked for them; `RunPlan.lacks` names the next one.
 */
export interface RunFacts {
  now: Date;
  settings: RunSettings;
  lake: LakeFacts;
  /** Undefined for a run that has made all its calls and only has to publish. */
  account: AccountFacts | undefined;
  landed: RunProgress;
  /** True if the try that the facts are for is already in the journal. */
  isAtWork: boolean;
  readable?: readonly { id: bigint; items: bigint }[] | undefined;
  /** The time of the last poll or of the items' newest change, in ms since the epoch. */
  polledAt?: number | undefined;
  /** The number of items in each part that is copied whole. */
  counts?: ReadonlyMap<Dataset, bigint> | undefined;
  listed?: ReadonlyMap<Dataset, Counts['listed']> | undefined;
  /** The service's reason for refusing the feed's cursor. */
  cursorRefused?: string | undefined;
  /** The number of landed changes whose items are not named; undefined if there are none. */
  unnamed?: bigint | undefined;
  /** The error of an export of this try that the service cut at the monthly limit, or that the gate refused. */
  cut?: PricelakeError | undefined;
}

interface RunSettings {
  mode: 'auto' | RunMode;
  history: 'feed' | 'none' | 'items';
  selection: DatasetSelection;
  /** Milliseconds between two complete comparisons; undefined for none. */
  reconcileEvery: number | undefined;
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
  /** Changes before the cursor that are read again; undefined if there are none. */
  overlap: FeedOverlap | undefined;
  /** The number of rows of a complete copy, as far as the lake shows. */
  rows: bigint;
  /** The datasets that the lake copies; undefined while it is empty. */
  selection: DatasetSelection | undefined;
  copied: readonly bigint[];
  /** The datasets in table `datasets`. */
  seen: readonly bigint[];
  caughtUpAt: Date | undefined;
  snapshotAt: Date | undefined;
  /** Undefined if the listing of all items is known. */
  unknownListing: UnknownListing | undefined;
  /** True if there are foreign commits, which only a complete copy repairs. */
  isDamaged: boolean;
}

/** Items whose listing state runs could not establish. */
export interface UnknownListing {
  /** Maximum number of such items. */
  items: bigint;
  /** The start of the first run that could not establish it. */
  since: Date;
  /** The start of the last run that read items to establish it; undefined if none did. */
  lookedAt: Date | undefined;
}

export interface AccountFacts {
  name: string;
  upgradeUrl: string;
  hasFeed: boolean;
  historyDays: number | null;
  /** The remaining allowance, without the rows reserved for running exports. */
  allowance: Allowance;
  /** The calls of this process: at least those since `allowance` was read. */
  callsMade: bigint;
  broken: readonly BrokenExport[];
}
