import pLimit from 'p-limit';
import type { ApiClient } from '../api/client.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../landing/landing.js';
import { ItemFiles } from './item-files.js';
import { skipSample } from './sample.js';
import { runSideBySide } from './side-by-side.js';
import { readItem } from './single-item.js';

/** Requests side by side; the rate stays the client's. */
const CONCURRENCY = 4;
/** More items than that wait for the next run: lists have caught up with the feed by then. */
const MOST = 500;

/** True where pages or an export brought items: single items may be ahead of them. */
export function hasReadLists({ journal }: Landing): boolean {
  return journal.last('hydrate.again') === undefined && journal.all('hydrate.page').some(({ rows }) => rows > 1);
}

/**
 * Reads items one by one (section 4, /items/{id}) of which a list showed too little, once a run, and lands them. A
 * service that refuses or does not answer costs nothing but a later read.
 */
export async function landRereads(
  client: ApiClient,
  landing: Landing,
  itemIds: readonly bigint[],
  callsLeft: bigint | null,
  io: Io,
): Promise<void> {
  const { journal } = landing;
  const isAffordable = callsLeft === null || BigInt(itemIds.length) * 10n <= callsLeft;
  if (itemIds.length === 0 || itemIds.length > MOST || !isAffordable) return;
  await journal.append({ type: 'hydrate.again', items: itemIds.length, calls: client.calls() });
  const files = new ItemFiles(landing, 'hydrate.page');
  const inOrder = pLimit(1);
  try {
    await runSideBySide(CONCURRENCY, itemIds, async (id) => {
      const body = await readItem(client, id);
      if (body === undefined) return;
      const entry = { rows: 1, readAt: io.now().toISOString(), calls: client.calls() };
      await inOrder(() => files.land(body, [{ start: 0, end: body.length }], entry));
    });
  } catch (error) {
    skipSample(error, io);
  } finally {
    await files.close();
  }
}
