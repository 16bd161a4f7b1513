import { z } from 'zod';
import { int64 } from '../api/contract.js';
import { type Count, extrapolateChanges } from '../extract/estimate.js';
import { type FeedPage, readFeedPage, readItemId } from '../extract/page.js';
import { type RunMode, TXN_CURSOR } from '../model.js';
import type { Lookout } from './lookout.js';

/** The changes that wait, and the first page of them. */
export interface WaitingFeed {
  changes: Count;
  body: Buffer | undefined;
  page: FeedPage | undefined;
}

const PAGE_LIMIT = 1_000;
const recent = z.looseObject({ changes: z.array(z.looseObject({ id: int64 })) });

/** Reads a page of the feed from where the run would (section 4, /changes); where more waits, its newest change, too. */
export async function lookAtFeed(lookout: Lookout, mode: RunMode): Promise<WaitingFeed> {
  const { client, journal, tables, pipeline } = lookout;
  const cursor = journal?.last('feed.page')?.nextCursor ?? tables.history.txn[TXN_CURSOR];
  // A first run without the history before it begins at the newest change.
  if (cursor === undefined && mode === 'snapshot' && pipeline.source.history === 'none') {
    return { changes: { count: 0n, exact: false }, body: undefined, page: undefined };
  }
  const after = cursor ?? 0n;
  const { body } = await client.bytes('/changes', { after, limit: PAGE_LIMIT });
  const page = readFeedPage(body, after);
  const rows = BigInt(page.changes.length);
  const [first] = page.changes;
  if (!page.hasMore || first === undefined) return { changes: { count: rows, exact: true }, body, page };
  const { changes } = await client.json('/changes/recent', { limit: 1 }, recent);
  const ids = { first: readItemId(body, first), last: page.nextCursor, rows };
  return { changes: { count: extrapolateChanges(ids, changes[0]?.id ?? page.nextCursor), exact: false }, body, page };
}
