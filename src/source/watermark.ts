import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { int64 } from '../api/wire-types.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';
import type { LowWatermark } from '../journal/reads.js';
import type { DatasetPart } from './dataset-client.js';
import { readNewestChange } from './feed.js';
import { findRecentWindow } from './recent-window.js';

const newestItem = z.looseObject({
  content: z.array(z.looseObject({ lastChangedAt: z.string() })),
  totalElements: int64,
});

/**
 * Journals the low watermark: the newest change (section 4, /changes/recent), from which the feed can safely be read, and
 * the latest time at which an item of any part changed (/items by `-lastChanged`). One time suffices for all parts, because
 * polls reach back an hour before it.
 * @param client asks about all datasets
 * @param feed `new` if the feed is read only from about the low watermark on
 */
export async function landLowWatermark(
  client: ApiClient,
  landing: Landing,
  parts: readonly DatasetPart[],
  feed: 'none' | 'known' | 'new',
  io: Io,
): Promise<LowWatermark> {
  const { journal } = landing;
  if (journal.state.watermark === undefined) {
    const asked = parts.length === 1 && parts[0] !== undefined ? parts[0].client : client;
    const { newest: cursor, from } = await readNewest(asked, feed);
    const counts: { dataset: bigint; items: bigint }[] = [];
    let changedAt: string | null = null;
    let items = 0n;
    for (const part of parts) {
      const newest = await part.client.json('/items', { status: 'all', sort: '-lastChanged', size: 1 }, newestItem);
      const at = newest.content[0]?.lastChangedAt;
      if (at !== undefined && (changedAt === null || Date.parse(at) > Date.parse(changedAt))) changedAt = at;
      items += newest.totalElements;
      if (part.dataset !== undefined) counts.push({ dataset: part.dataset, items: newest.totalElements });
    }
    const lowWatermark = {
      cursor,
      ...(from === undefined ? {} : { from }),
      changedAt,
      items,
      ...(counts.length === 0 ? {} : { counts }),
      at: io.now().toISOString(),
    };
    await journal.append({ type: 'watermark', ...lowWatermark, calls: client.calls() });
    io.log('debug', 'landed', { what: 'watermark', cursor, changedAt, items });
  }
  const { watermark: landed } = journal.state;
  if (landed === undefined) throw new Error('the low watermark was journaled');
  return landed;
}

async function readNewest(
  client: ApiClient,
  feed: 'none' | 'known' | 'new',
): Promise<{ newest: bigint | null; from?: bigint }> {
  if (feed === 'none') return { newest: null };
  return feed === 'new' ? findRecentWindow(client) : { newest: (await readNewestChange(client)) ?? 0n };
}
