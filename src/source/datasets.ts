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

/** Nullable fields may be missing from a response, because some services omit nulls. */
const datasets = z.array(dataset.partial({ description: true, newestScrapeAt: true, oldestScrapeAt: true }));

/** The datasets that the key can read (API §4), from the run's /datasets response. */
export interface LandedDatasets {
  datasets: z.output<typeof datasets>;
  rows: readonly unknown[];
  /** The time of the /datasets response, from its `Date` header if valid, otherwise from this machine's clock. */
  readAt: string;
  /** The number of the account's datasets that the plan excludes; undefined if the run hasn't read the plan. */
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

/** The maximum number of times that `countListed` counts. Its two counts may differ while items are changing. */
const LOOKS = 3;

/** Parses only the counts. An invalid value in another field then can't stop a run. */
const countedSites = z.looseObject({ sites: z.array(z.looseObject({ id: int64, items: int64 })) });
const counted = z.looseObject({ totalElements: int64 });

/** Counts the items that match the query, including removed items (API §4, /items). */
export async function countItems(client: ApiClient, query: Query = {}): Promise<bigint> {
  return (await client.json('/items', { status: 'all', ...query, size: 1 }, counted)).totalElements;
}

/** Counts the listed items, in all (API §4, /items) and by website (/facets). If the sums differ, counts again. */
export async function countListed(client: ApiClient): Promise<NonNullable<Counts['listed']>> {
  for (let look = 1; ; look++) {
    const { sites } = await client.json('/facets', {}, countedSites);
    const items = await countItems(client, { status: 'active' });
    const ofSites = sites.reduce((sum, site) => sum + site.items, 0n);
    if (ofSites === items || look === LOOKS) return { items, sites };
  }
}
