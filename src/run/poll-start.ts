import { createTableViews } from '../lake/views.js';
import type { Run } from './open-run.js';

/** The low watermark of the last run without a feed; after runs by the feed, the newest change that the items show. */
export async function readPollStart({ db, lake, tables }: Pick<Run, 'db' | 'lake' | 'tables'>): Promise<number> {
  const polled = tables.items.applied.polledAt;
  if (polled > 0n) return Number(polled / 1000n);
  await createTableViews(db, lake, {}, { tables: ['items'] });
  const newest = await db.row('SELECT epoch_us(max(last_changed_at)) AS at FROM items');
  return Number(((newest?.at as bigint | null) ?? 0n) / 1000n);
}
