import { z } from 'zod';
import type { ApiClient } from '../api/client.js';
import { int64 } from '../api/contract.js';
import type { Io } from '../io.js';
import type { Landing } from '../landing/landing.js';

/** Where the service stood before whole rows are read: whatever they may miss, lies behind it. */
export interface Fence {
  /** Newest change of the feed; changes up to it are in every row that is read later. Undefined without a feed. */
  cursor: bigint | undefined;
  /** When the item that changed last did so, ISO 8601; undefined when there is no item. */
  changedAt: string | undefined;
  /** Items in all, removed ones included. */
  items: bigint;
  /** When it was taken, ISO 8601. */
  at: string;
}

/** Of the newest change only its id is needed: what else it holds is no reason to stop a first run. */
const newestChange = z.looseObject({ changes: z.array(z.looseObject({ id: int64 })) });
const newestItem = z.looseObject({
  content: z.array(z.looseObject({ lastChangedAt: z.string() })),
  totalElements: int64,
});

/**
 * Takes the fence and journals it: the newest change (section 4, /changes/recent: a safe start for the feed), and the
 * time of the newest change of an item (/items by `-lastChanged`, a safe start for `changedSince`).
 */
export async function landFence(client: ApiClient, landing: Landing, hasFeed: boolean, io: Io): Promise<Fence> {
  const { journal } = landing;
  if (journal.last('fence') === undefined) {
    const recent = hasFeed ? await client.json('/changes/recent', { limit: 1 }, newestChange) : undefined;
    const newest = await client.json('/items', { status: 'all', sort: '-lastChanged', size: 1 }, newestItem);
    const fence = {
      cursor: recent === undefined ? null : (recent.changes[0]?.id ?? 0n),
      changedAt: newest.content[0]?.lastChangedAt ?? null,
      items: newest.totalElements,
      at: io.now().toISOString(),
    };
    await journal.append({ type: 'fence', ...fence, calls: client.calls() });
    io.log('debug', 'landed', { what: 'fence', ...fence });
  }
  const landed = journal.last('fence');
  return {
    cursor: landed?.cursor ?? undefined,
    changedAt: landed?.changedAt ?? undefined,
    items: landed?.items ?? 0n,
    at: landed?.at ?? '',
  };
}
