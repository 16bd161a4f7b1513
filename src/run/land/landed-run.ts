import type { LowWatermark } from '../../journal/reads.js';
import type { RunPlan } from '../../plan/plan-run.js';
import type { LandedEvents } from '../../source/events.js';
import type { LandedFeed } from '../../source/feed.js';
import type { LandedBackfill } from '../../source/land-histories.js';
import type { PlannedRun } from '../../source/read-plan.js';
import type { CursorWindow } from '../../tables/cursor-window.js';
import type { RunMode } from '../../tables/table.js';

/** All that a run lands before it reads items whole. */
export interface LandedInput {
  mode: RunMode;
  /** Undefined for a run that continues by the feed alone. */
  lowWatermark: LowWatermark | undefined;
  /** Webhook events from before the service was read. */
  events: LandedEvents;
  /** Histories of items that a backfill asked for. */
  backfill: LandedBackfill;
  /** Undefined on a plan without the feed. */
  feed: LandedFeed | undefined;
  /** The changes that the run works on. */
  window: CursorWindow;
  /** Datasets that are new to the lake: their items are copied whole, and history may hold some of their changes. */
  added: readonly bigint[];
  /** The account, for further calls; undefined if all has landed. */
  planned: PlannedRun | undefined;
  /** The run's plan when the feed was read. */
  plan: RunPlan;
}
