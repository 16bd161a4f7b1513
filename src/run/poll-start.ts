import type { Run } from './open-run.js';

/** How far before a low watermark a poll reaches: a change may show later than its time says. */
const POLL_OVERLAP_MS = 3600 * 1000;

/** A time as a poll asks for it. */
export function reachBack(time: number): string {
  return new Date(Math.max(0, time - POLL_OVERLAP_MS)).toISOString();
}

/** The low watermark of the last run without a feed; after runs by the feed, the newest change that the items show. */
export async function readPollStart({ db, tables }: Pick<Run, 'db' | 'tables'>): Promise<number> {
  const polled = tables.items.applied.polledAt;
  const newest = await db.row('SELECT epoch_us(max(last_changed_at)) AS at FROM items');
  const micros = polled > 0n ? polled : ((newest?.at as bigint | null) ?? 0n);
  return Number(micros / 1000n);
}
