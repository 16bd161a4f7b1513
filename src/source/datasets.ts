import { stringify } from 'lossless-json';
import * as z from 'zod';
import type { ApiClient, Query } from '../api/client.js';
import { dataset } from '../api/contract.js';
import { parseExactJson } from '../api/exact-json.js';
import { int64 } from '../api/wire-types.js';
import type { Io } from '../io/io.js';
import { type Landing, readApplicable } from '../journal/landings.js';
import { type Applicable, isApplicable } from '../journal/run-state.js';
import type { Counts } from '../plan/plan-shards.js';

/** Accepts a response in which nullable fields are missing, because a service may omit nulls. */
const datasets = z.array(dataset.partial({ description: true, newestScrapeAt: true, oldestScrapeAt: true }));

/** The datasets that the key can read, as `/datasets` currently describes them (API §4). */
export interface LandedDatasets {
  datasets: z.output<typeof datasets>;
  rows: readonly unknown[];
  /** When `/datasets` was read: the time of its `Date` header if that is valid, otherwise this machine's time. */
  readAt: string;
  /** The number of the account's datasets that the plan locks; undefined if the run hasn't read the plan. */
  locked: number | undefined;
  run: Applicable;
}

/** Requests `/datasets`, and journals the response with the number of locked datasets. */
export async function landDatasets(
  client: ApiClient,
  landing: Landing,
  io: Io,
  locked: number | undefined,
): Promise<LandedDatasets> {
  const { journal } = landing;
  if (!isApplicable(journal.state)) {
    const answer = stringify(await client.json('/datasets', {}, datasets)) ?? '[]';
    const readAt = (client.serviceTime() ?? io.now()).toISOString();
    await journal.append({ type: 'datasets', readAt, answer, locked, calls: client.calls() });
    io.log('debug', 'landed', { what: 'datasets' });
  }
  return readDatasets(readApplicable(landing));
}

export function readDatasets(run: Applicable): LandedDatasets {
  const { answer, readAt, locked } = run.datasets;
  const rows = JSON.parse(answer) as unknown[];
  return { datasets: datasets.parse(parseExactJson(answer)), rows, readAt, locked, run };
}

/** The maximum number of times that countListed reads its two counts. They may differ while items change. */
const LOOKS = 3;

/** Parses only the counts, so that a change in another field can't stop a run. */
const countedSites = z.looseObject({ sites: z.array(z.looseObject({ id: int64, items: int64 })) });
const counted = z.looseObject({ totalElements: int64 });

/** Counts the items that match the query, including removed items (API §4, /items). */
export async function countItems(client: ApiClient, query: Query = {}): Promise<bigint> {
  return (await client.json('/items', { status: 'all', ...query, size: 1 }, counted)).totalElements;
}

/** Counts the listed items (API §4, /items) and those of each website (/facets), up to LOOKS times until they agree. */
export async function countListed(client: ApiClient): Promise<NonNullable<Counts['listed']>> {
  for (let look = 1; ; look++) {
    const { sites } = await client.json('/facets', {}, countedSites);
    const items = await countItems(client, { status: 'active' });
    const ofSites = sites.reduce((sum, site) => sum + site.items, 0n);
    if (ofSites === items || look === LOOKS) return { items, sites };
  }
}
