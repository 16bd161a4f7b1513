import type { Run } from './open-run.js';

/** The low watermark of the last run without a feed; after runs by the feed, the newest change that the items show. */
export async function readPollStart({ db, tables }: Pick<Run, 'db' | 'tables'>): Promise<number> {
  const polled = tables.items.applied.polledAt;
  const newest = await db.row('SELECT epoch_us(max(last_changed_at)) AS at FROM items');
  const micros = polled > 0n ? polled : ((newest?.at as bigint | null) ?? 0n);
  return Number(micros / 1000n);
}
