import type { PricelakeError } from '../io/errors.js';
import type { BrokenExport } from '../journal/memory.js';
import type { Dataset } from '../journal/run-entry.js';
import type { RunProgress } from '../journal/run-state.js';
import type { FeedOverlap } from '../tables/cursor-window.js';
import type { DatasetSelection, RunMode } from '../tables/table.js';
import type { Allowance } from './allowance.js';
import type { Counts } from './plan-shards.js';

/**
 * The facts for a run's plan. The settings, the lake, the account and the journal are known from the start. Other facts
 * are undefined until the run has requested them. `RunPlan.lacks` names the next fact to request.
 */
export interface RunFacts {
  now: Date;
  settings: RunSettings;
  lake: LakeFacts;
  /** The account; undefined if the run has made all its calls and only has to publish. */
  account: AccountFacts | undefined;
  landed: RunProgress;
  /** True if the journal already contains the current attempt. */
  isAtWork: boolean;
  readable?: readonly { id: bigint; items: bigint }[] | undefined;
  /** The time of the last poll, or of the newest change of an item, in ms since 1970. */
  polledAt?: number | undefined;
  /** The number of items in each dataset that is copied. */
  counts?: ReadonlyMap<Dataset, bigint> | undefined;
  listed?: ReadonlyMap<Dataset, Counts['listed']> | undefined;
  /** The service's reason for refusing the feed's cursor. */
  cursorRefused?: string | undefined;
  /** The number of downloaded changes that don't name their item; undefined if there are none. */
  unnamed?: bigint | undefined;
  /** The error of an export that the service truncated, or that the gate rejected, in this attempt. */
  cut?: PricelakeError | undefined;
}

interface RunSettings {
  mode: 'auto' | RunMode;
  history: 'feed' | 'none' | 'items';
  selection: DatasetSelection;
  /** The time between complete comparisons, in milliseconds; undefined to make none. */
  reconcileEvery: number | undefined;
  splitAbove: bigint;
  products: 'all' | 'none';
  proof: { sample: number; products: boolean; facets: boolean };
}

/** The lake before the run. */
export interface LakeFacts {
  hasItems: boolean;
  hasCursor: boolean;
  /** The feed's cursor as it was before the run committed anything; undefined if the lake had no cursor. */
  cursor: bigint | undefined;
  /** The changes before the cursor to read again; undefined if there are none. */
  overlap: FeedOverlap | undefined;
  /** The expected number of rows in a complete copy, according to the lake. */
  rows: bigint;
  /** The datasets that the lake copies; undefined while the lake is empty. */
  selection: DatasetSelection | undefined;
  copied: readonly bigint[];
  /** The ids in the `datasets` table. */
  seen: readonly bigint[];
  caughtUpAt: Date | undefined;
  snapshotAt: Date | undefined;
  /** The items whose listing state is unknown; undefined if there are none. */
  unknownListing: UnknownListing | undefined;
  /** True if other programs have committed to tables. Only a complete copy repairs these tables. */
  isDamaged: boolean;
}

/** Items whose listing state earlier runs couldn't determine. */
export interface UnknownListing {
  /** The maximum number of items whose listing state is unknown. */
  items: bigint;
  /** The start of the first run that couldn't determine the state of these items. */
  since: Date;
  /** The start of the last run that read items to determine their state; undefined if no run has done so. */
  lookedAt: Date | undefined;
}

export interface AccountFacts {
  name: string;
  upgradeUrl: string;
  hasFeed: boolean;
  historyDays: number | null;
  /** The remaining allowance, without the rows that are reserved for exports in progress. */
  allowance: Allowance;
  /** The number of calls that this process has made, including those since `allowance` was read. */
  callsMade: bigint;
  broken: readonly BrokenExport[];
}
