import { stringify } from 'lossless-json';
import { ITEMS_A_PAGE } from '../../api/contract.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import { findListing } from '../../journal/listing.js';
import type { DatasetPart } from '../../source/dataset-client.js';
import { facetsAnswer } from '../../source/facets.js';
import { ItemFiles, landSingleItems } from '../../source/item-files.js';
import { readItemPage } from '../../source/page.js';
import type { Reading } from './choose-readings.js';

/** Requests the service's counts of listed items (API §4, /facets), and records them in the journal. */
export async function landCounts({ client, dataset }: DatasetPart, { journal }: Landing, returnsRemovals: boolean) {
  const answer = stringify(await client.json('/facets', {}, facetsAnswer)) as string;
  await journal.append({ type: 'listing.counts', dataset, answer, returnsRemovals, calls: client.calls() });
}

/** Returns how many of these items the lake shows as listed. If they are removed, these removals are new to it. */
export type CountListed = (ids: readonly bigint[]) => Promise<bigint>;

/**
 * Downloads pages of items (API §4, /items). A read of all pages starts with the newest listings, because changes don't
 * affect this order. A read of the newest removals starts with the items that were last seen most recently, because an
 * item is removed soon after it was last seen. An interrupted read continues with its next page.
 */
export async function landReading(
  part: DatasetPart,
  landing: Landing,
  { status, site, removals }: Reading,
  { countListed, pages }: { countListed: CountListed; pages: number },
  io: Io,
): Promise<void> {
  const { client, dataset } = part;
  const sort = removals === null ? '-firstSeen' : '-lastSeen';
  const query = { status, ...(site === null ? {} : { site }), sort, size: ITEMS_A_PAGE };
  const files = new ItemFiles(landing, 'listing', io);
  const findOpen = () => findListing(landing.journal.state.listing, dataset).open;
  let total: bigint | null = null;
  let found = 0n;
  try {
    for (let page = findOpen().pages; ; page++) {
      const { body } = await client.bytes('/items', { ...query, page });
      const answer = readItemPage(body, `/items?page=${page}`);
      await files.land(part, body, answer.rows);
      const isEnd = answer.rows.length === 0 || page + 1 >= answer.totalPages;
      if (removals === null) total = answer.totalElements;
      if (isEnd) break;
      if (removals === null) continue;
      const news = await countListed(answer.ids);
      found += news;
      if (news === 0n || found >= removals || page + 1 >= pages) break;
    }
  } finally {
    await files.close();
  }
  const landed = { files: [...findOpen().files], total };
  await landing.journal.append({ type: 'listing.read', dataset, ...landed, calls: client.calls() });
}

/** Reads items one by one. Saves each item. If the service no longer returns an item, records that in the journal. */
export async function landSingles(
  part: DatasetPart,
  landing: Landing,
  itemIds: readonly bigint[],
  io: Io,
): Promise<void> {
  await landSingleItems(part, landing, 'listing', itemIds, io, (itemId) =>
    landing.journal.append({ type: 'listing.gone', itemId, calls: part.client.calls() }),
  );
}
