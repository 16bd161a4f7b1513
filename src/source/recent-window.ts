import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { int64 } from '../api/wire-types.js';
import { LAG_MS } from '../tables/table.js';

const PAGE_LIMIT = 200;
/** With more changes an hour the window is shorter, because later runs look at the answers again anyway. */
const MOST_PAGES = 25;

/** Only what is needed is parsed, so drift in other fields can't stop a run. */
const recentPage = z.looseObject({
  changes: z.array(z.looseObject({ id: int64, observedAt: z.string().optional() })),
  hasMore: z.boolean().optional(),
});

type RecentPage = z.output<typeof recentPage>;

/** The newest changes of the feed, as ids: the newest one, and the one behind which the last hour begins. */
export interface RecentWindow {
  newest: bigint;
  from: bigint;
}

/**
 * Finds the feed's cursor an hour before its newest change (section 4, /changes/recent). Rows may lag behind the feed, so
 * the changes of that hour are read and applied to rows that don't show them yet.
 */
export async function findRecentWindow(client: ApiClient): Promise<RecentWindow> {
  const page = await client.json('/changes/recent', { limit: PAGE_LIMIT }, recentPage);
  const [newest] = page.changes;
  if (newest === undefined) return { newest: 0n, from: 0n };
  return { newest: newest.id, from: await findStart(client, page, newest) };
}

async function findStart(client: ApiClient, first: RecentPage, newest: RecentPage['changes'][number]): Promise<bigint> {
  const since = Date.parse(newest.observedAt ?? '') - LAG_MS;
  let oldest = newest.id + 1n;
  let page = first;
  for (let pages = 1; ; pages++) {
    const older = page.changes.find(({ observedAt }) => Date.parse(observedAt ?? '') < since);
    if (older !== undefined) return older.id;
    const last = page.changes.at(-1)?.id;
    // Nothing is older, so the window begins before the last change shown.
    if (last === undefined || last >= oldest) return oldest - 1n;
    if (page.hasMore !== true) return last - 1n;
    if (pages === MOST_PAGES) return last;
    oldest = last;
    page = await client.json('/changes/recent', { limit: PAGE_LIMIT, before: oldest }, recentPage);
  }
}
