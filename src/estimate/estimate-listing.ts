import type { PlannedRun } from '../account/read-plan.js';
import { countLakeSites, findEvidence, readListingItems } from '../compare/listing-states.js';
import { listSelectedParts } from '../extract/dataset-client.js';
import { countCallsLeft } from '../plan/allowance.js';
import { chooseReadings } from '../plan/choose-readings.js';
import type { Ahead } from '../plan/estimate.js';
import { readPollStart } from '../run/poll-start.js';
import type { EstimateSource } from './estimate-source.js';

/** What a poll takes to establish which items are listed: a call for the counts, and where they may hide something, pages. */
export async function estimateListing(source: EstimateSource, { gate }: PlannedRun): Promise<Ahead['listing']> {
  const { graph, before, client, selection, journal } = source;
  if (journal.last('listing.done') !== undefined) return undefined;
  const exported_items = graph.empty('exported_items', 'items');
  const pending_changes = graph.empty('pending_changes', 'history');
  const lake = { items: await before.rows('items'), exported_items, pending_changes };
  const items = await readListingItems(graph, lake, undefined, []);
  const counts = listSelectedParts(client, selection).length;
  const since = new Date(await readPollStart(source)).toISOString();
  if (await findEvidence(graph, items, since)) {
    return { calls: counts, basis: 'counts of listed items; more if they do not agree with the lake' };
  }
  const callsLeft = countCallsLeft(gate.left(), BigInt(client.calls()));
  const sites = await countLakeSites(graph, items);
  const facts = { sites, returnsRemovals: false, isSuspect: false, isSecond: false, callsLeft };
  const { calls, limit, wanted } = chooseReadings(facts);
  const why = 'nothing shows that changedSince returns removals';
  return calls === 0n
    ? {
        calls: counts,
        basis: `counts of listed items; ${why}, and reading all takes ${wanted} calls of ${limit} allowed`,
      }
    : { calls: counts + Number(calls), basis: `counts of listed items, and reading them: ${why}` };
}
