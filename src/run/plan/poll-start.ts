import { sql } from '../../sql/sql.js';
import type { Run } from '../open/open-run.js';

/** The low watermark of the last run without a feed; after runs by the feed, the newest change that the items show. */
export async function readPollStart({
  graph,
  before,
  tables,
}: Pick<Run, 'graph' | 'before' | 'tables'>): Promise<number> {
  const polled = tables.items.applied.polledAt;
  if (polled > 0n) return Number(polled / 1000n);
  const newest = await graph.row(sql`SELECT epoch_us(max(last_changed_at)) AS at FROM ${await before.rows('items')}`);
  return Number(((newest?.at as bigint | null) ?? 0n) / 1000n);
}
