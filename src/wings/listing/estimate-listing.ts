import { countOf } from '../../formats/count.js';
import type { NextPoll } from '../../run/open/wings.js';
import type { CallEstimate } from '../../run/open/witness.js';
import { readPollStart } from '../../run/plan/run-planner.js';
import { listSelectedParts } from '../../source/dataset-client.js';
import { chooseReadings } from './choose-readings.js';
import { countLakeSites, findEvidence, readListingItems } from './listing-states.js';

/** Estimates the calls with which a poll determines which items are listed: for counts and, if needed, for pages. */
export async function estimateListing(next: NextPoll): Promise<CallEstimate | undefined> {
  const { graph, before, client, selection, journal, callsLeft } = next;
  if (journal.state.listing.done !== undefined) return undefined;
  const exported_items = graph.empty('exported_items', 'items');
  const pending_changes = graph.empty('pending_changes', 'history');
  const lake = { items: await before.rows('items'), exported_items, pending_changes };
  const items = await readListingItems(graph, lake, undefined, []);
  const counts = listSelectedParts(client, selection).length;
  const since = new Date(await readPollStart(next)).toISOString();
  if (await findEvidence(graph, items, since)) {
    return { calls: counts, basis: 'item counts; more calls if the counts differ from the lake' };
  }
  const sites = await countLakeSites(graph, items);
  const facts = { sites, returnsRemovals: false, isSuspect: false, isSecond: false, callsLeft };
  const { calls, limit, wanted } = chooseReadings(facts);
  const why = 'there is no evidence that changedSince returns removals';
  return calls === 0n
    ? {
        calls: counts,
        basis: `item counts; ${why}, and reading all items would take ${countOf(wanted, 'call')} (${limit} allowed)`,
      }
    : { calls: counts + Number(calls), basis: `item counts, and reading the items: ${why}` };
}
