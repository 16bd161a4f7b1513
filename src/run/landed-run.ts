import type { PlannedRun } from '../account/read-plan.js';
import type { LandedBackfill } from '../backfill/land-histories.js';
import type { LandedEvents } from '../extract/events.js';
import type { LandedFeed } from '../extract/feed.js';
import type { LowWatermark } from '../extract/watermark.js';
import type { RunPlan } from '../plan/plan-run.js';
import type { RunMode } from '../tables/table.js';

/** What of a run is landed before hydration. */
export interface Extract {
  mode: RunMode;
  /** Undefined for a run that goes on by the feed alone. */
  lowWatermark: LowWatermark | undefined;
  /** What webhooks brought before the service was read. */
  events: LandedEvents;
  /** Histories of items that a backfill asked for. */
  backfill: LandedBackfill;
  /** Undefined on a plan without the feed. */
  feed: LandedFeed | undefined;
  /** Changes behind this id are new to the lake's history. */
  feedFrom: bigint;
  /** Datasets that are new to the lake: their items are copied whole, and history may hold some of their changes. */
  added: readonly bigint[];
  /** Changes behind this id are not yet in items. */
  applyFrom: bigint;
  /** Changes up to it happened before whole rows were read; undefined where the run reads none. */
  watermark: bigint | undefined;
  /** What may still be taken; undefined where all has landed. */
  planned: PlannedRun | undefined;
  /** The run's plan when the feed was read. */
  plan: RunPlan;
}
