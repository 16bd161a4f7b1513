import type { RunMode } from '../tables/table.js';
import { hasOutlastedHistory } from './decide-mode.js';
import type { Dataset } from './plan-shards.js';
import type { RunFacts } from './run-facts.js';

/** Items of some parts that changed since a time. */
export interface PollPlan {
  datasets: readonly Dataset[];
  /** ISO 8601; undefined until it is known. */
  since: string | undefined;
  /** True when no item may be missed that changes meanwhile. */
  untilSettled: boolean;
  /** True where these items are polled again, whatever was polled of them before. */
  reopens: boolean;
}

/**
 * What changed since the last poll, in a run without the feed; and what changed while no run worked for so long that
 * the feed no longer reaches.
 */
export function planPolls(
  facts: RunFacts,
  { mode, parts, polled }: { mode: RunMode; parts: readonly Dataset[]; polled: readonly Dataset[] },
): PollPlan[] {
  const { polledAt, lowWatermark, landed } = facts;
  const polls: PollPlan[] = [];
  if (mode === 'poll') {
    const since = polledAt === undefined ? undefined : reachBack(polledAt);
    polls.push({ datasets: polled, since, untilSettled: false, reopens: false });
  }
  const changedAt = lowWatermark?.changedAt;
  if (changedAt !== undefined && !landed.isFeedDone && hasOutlastedHistory(facts)) {
    polls.push({ datasets: parts, since: reachBack(Date.parse(changedAt)), untilSettled: true, reopens: true });
  }
  return polls;
}

/** How far before a low watermark a poll reaches: a change may show later than its time says. */
const POLL_OVERLAP_MS = 3600 * 1000;

/** A time as a poll asks for it. */
export function reachBack(time: number): string {
  return new Date(Math.max(0, time - POLL_OVERLAP_MS)).toISOString();
}
