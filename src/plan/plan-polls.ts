import type { RunMode } from '../tables/table.js';
import { hasOutlastedHistory } from './decide-mode.js';
import type { Dataset } from './plan-shards.js';
import type { RunFacts } from './run-facts.js';

/** Items of some parts that changed since a time. */
export interface PollPlan {
  datasets: readonly Dataset[];
  /** ISO 8601; undefined until it is known. */
  since: string | undefined;
  /** True if the poll must not miss items that change meanwhile. */
  untilSettled: boolean;
  /** True to poll these items again, even if the run has polled them. */
  reopens: boolean;
}

/**
 * Polls items that changed since the last poll, in a run without the feed; and items that changed while no run worked
 * for longer than the feed reaches back.
 */
export function planPolls(
  facts: RunFacts,
  { mode, parts, polled }: { mode: RunMode; parts: readonly Dataset[]; polled: readonly Dataset[] },
): PollPlan[] {
  const { polledAt, landed } = facts;
  const polls: PollPlan[] = [];
  if (mode === 'poll') {
    const since = polledAt === undefined ? undefined : reachBack(polledAt);
    polls.push({ datasets: polled, since, untilSettled: false, reopens: false });
  }
  const changedAt = landed.watermark?.changedAt;
  if (changedAt !== undefined && landed.feed.done === undefined && hasOutlastedHistory(facts)) {
    polls.push({ datasets: parts, since: reachBack(Date.parse(changedAt)), untilSettled: true, reopens: true });
  }
  return polls;
}

/** A poll reaches back further than the low watermark, because a change may show later than its time says. */
const POLL_OVERLAP_MS = 3600 * 1000;

export function reachBack(time: number): string {
  return new Date(Math.max(0, time - POLL_OVERLAP_MS)).toISOString();
}
