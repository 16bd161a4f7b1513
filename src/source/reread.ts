import type { ApiClient } from '../api/client.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';
import { isPublishable } from '../journal/run-state.js';
import { landSingleItems } from './land-single-items.js';
import { skipSample } from './sample.js';

/** More items than that wait for the next run: lists have caught up with the feed by then. */
const MOST = 500;

/** True where pages or an export brought items: single items may be ahead of them. A settled run adds no rows. */
export function hasReadLists({ journal: { state } }: Landing): boolean {
  return !isPublishable(state) && !state.hydration.isReadAgain && state.hydration.hasLists;
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
  const part = { client, dataset: undefined };
  await landSingleItems(part, landing, 'hydrate', itemIds, io).catch((error: unknown) => skipSample(error, io));
}
