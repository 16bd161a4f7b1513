import type { ItemReader, ItemReads } from '../../apply/batch.js';
import { listSelectedParts } from '../../source/dataset-client.js';
import { cutItemTails, listItemFiles } from '../../source/item-files.js';
import type { Relation } from '../../sql/relation.js';
import type { Run } from '../open/open-run.js';
import type { LandedInput } from './landed-run.js';
import { ListingPages } from './listing-pages.js';
import { ListingPart } from './listing-part.js';
import { readListingItems } from './listing-states.js';
import { explainOpen, type OpenListing } from './listing-words.js';

/** Names of datasets as items give them: those that can be read (undefined: all), and by id. */
export interface DatasetNames {
  readable: readonly string[] | undefined;
  byId: ReadonlyMap<bigint, readonly string[]>;
}

/**
 * Establishes which items are listed, in a run by polling: `changedSince` may not return items that were removed or
 * listed again. One call compares the service's counts (section 4, /facets) with the lake as it would be; where they
 * differ, the items are found by pages and single reads, within a share of the calls left. What is not established is
 * journaled (`listing.done`). Returns the items that the service no longer shows.
 */
export async function compareListingStates(
  run: Run,
  landed: LandedInput,
  names: DatasetNames,
  { reader, ...sources }: { reader: ItemReader; items: Relation; pending_changes: Relation },
): Promise<bigint[]> {
  if (landed.mode !== 'poll') return [];
  const { landing, client } = run;
  const { journal } = landing;
  const listGone = () => [...journal.state.listing.gone];
  if (journal.state.listing.done !== undefined || landed.planned === undefined) {
    for (const file of listItemFiles(landing, 'listing')) run.typing.addItems({ ...file, origin: 'page' });
    return listGone();
  }
  await cutItemTails(landing, 'listing');
  const pages = new ListingPages(run, reader);
  const open: OpenListing[] = [];
  for (const part of listSelectedParts(client, run.selection)) {
    const own = part.dataset === undefined ? undefined : (names.byId.get(part.dataset) ?? []);
    const readRows = async ({ rows, typed }: ItemReads) => {
      const items = await readListingItems(run.graph, { ...sources, exported_items: rows }, own, listGone());
      return { items, typed };
    };
    open.push(await new ListingPart(run, landed, part, pages, { readRows, readable: names.readable }).establish());
  }
  const { unknown, reason } = explainOpen(open);
  await journal.append({ type: 'listing.done', unknown, reason, calls: client.calls() });
  run.io.log(unknown === 0n ? 'debug' : 'warn', 'listing.proved', { unknown, reason });
  return listGone();
}
