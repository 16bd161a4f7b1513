import type { PricelakeError } from '../io/errors.js';
import type { BrokenExport } from '../journal/memory.js';
import type { Dataset } from '../journal/run-entry.js';
import type { RunProgress } from '../journal/run-state.js';
import type { FeedOverlap } from '../tables/cursor-window.js';
import type { DatasetSelection, RunMode } from '../tables/table.js';
import type { Allowance } from './allowance.js';
import type { Counts } from './plan-shards.js';

/**
 * The facts for planning a run. The settings, lake, account and journal are known from the start. The other facts are
 * undefined until the run has requested them; `RunPlan.lacks` is the next one to request.
 */
export interface RunFacts {
  now: Date;
  settings: RunSettings;
  lake: LakeFacts;
  /** The account; undefined for a run that has made all its calls and only has to publish. */
  account: AccountFacts | undefined;
  landed: RunProgress;
  /** True if the current attempt is already in the journal. */
  isAtWork: boolean;
  readable?: readonly { id: bigint; items: bigint }[] | undefined;
  /** The time of the last poll or of the newest change of an item, in ms since 1970. */
  polledAt?: number | undefined;
  /** The number of items in each part that is copied whole. */
  counts?: ReadonlyMap<Dataset, bigint> | undefined;
  listed?: ReadonlyMap<Dataset, Counts['listed']> | undefined;
  /** The service's reason for refusing the feed cursor. */
  cursorRefused?: string | undefined;
  /** The number of downloaded changes that don't name their item; undefined if there are none. */
  unnamed?: bigint | undefined;
  /** The error of an export in this attempt that the service truncated, or that the gate rejected. */
  cut?: PricelakeError | undefined;
}

interface RunSettings {
  mode: 'auto' | RunMode;
  history: 'feed' | 'none' | 'items';
  selection: DatasetSelection;
  /** Milliseconds between complete comparisons; undefined if there are none. */
  reconcileEvery: number | undefined;
  splitAbove: bigint;
  products: 'all' | 'none';
  proof: { sample: number; products: boolean; facets: boolean };
}

/** The state of the lake before the run. */
export interface LakeFacts {
  hasItems: boolean;
  hasCursor: boolean;
  /** The cursor before the run committed anything; undefined if the lake had none. */
  cursor: bigint | undefined;
  /** Changes before the cursor that are read again; undefined if there are none. */
  overlap: FeedOverlap | undefined;
  /** The number of rows in a complete copy, as far as the lake shows. */
  rows: bigint;
  /** The datasets that the lake copies; undefined while it is empty. */
  selection: DatasetSelection | undefined;
  copied: readonly bigint[];
  /** The datasets in the datasets table. */
  seen: readonly bigint[];
  caughtUpAt: Date | undefined;
  snapshotAt: Date | undefined;
  /** Items whose listing state is unknown; undefined if there are none. */
  unknownListing: UnknownListing | undefined;
  /** True if other programs have committed to the tables, which only a complete copy repairs. */
  isDamaged: boolean;
}

/** Items whose listing state runs couldn't determine. */
export interface UnknownListing {
  /** The maximum number of such items. */
  items: bigint;
  /** When the first run that couldn't determine it started. */
  since: Date;
  /** When the last run that read items to determine it started; undefined if none did. */
  lookedAt: Date | undefined;
}

export interface AccountFacts {
  name: string;
  upgradeUrl: string;
  hasFeed: boolean;
  historyDays: number | null;
  /** The remaining allowance, minus the rows reserved for running exports. */
  allowance: Allowance;
  /** The number of calls that this process has made. It includes the calls made after `allowance` was read. */
  callsMade: bigint;
  broken: readonly BrokenExport[];
}
