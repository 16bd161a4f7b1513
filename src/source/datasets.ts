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

/** Fields that may be null may also be missing, because a service may leave out nulls. */
const datasets = z.array(dataset.partial({ description: true, newestScrapeAt: true, oldestScrapeAt: true }));

/** The datasets that the key can read, as the service describes them now (section 4, /datasets). */
export interface LandedDatasets {
  datasets: z.output<typeof datasets>;
  rows: readonly unknown[];
  /** The time of reading, by the service's clock; by this machine's if no response had a valid `Date` header. */
  readAt: string;
  /** The number of the account's datasets that the plan locks; undefined if the plan was not read in the same run. */
  locked: number | undefined;
  run: Applicable;
}

/** Reads `/datasets`, and journals the answer with the number of locked datasets. */
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

/** Returns the response of `/datasets` that a run has landed. */
export function readDatasets(run: Applicable): LandedDatasets {
  const { answer, readAt, locked } = run.datasets;
  const rows = JSON.parse(answer) as unknown[];
  return { datasets: datasets.parse(parseExactJson(answer)), rows, readAt, locked, run };
}

/** Maximum number of attempts to read two counts that agree. They may disagree while items change. */
const LOOKS = 3;

/** Only the counts are parsed, so that drift in other fields can't stop a run. */
const countedSites = z.looseObject({ sites: z.array(z.looseObject({ id: int64, items: int64 })) });
const counted = z.looseObject({ totalElements: int64 });

/** Counts items, including removed ones: all visible ones, or those that match a query (section 4, /items). */
export async function countItems(client: ApiClient, query: Query = {}): Promise<bigint> {
  return (await client.json('/items', { status: 'all', ...query, size: 1 }, counted)).totalElements;
}

/** Counts the listed items (section 4, /items) and those of each website (/facets) until the two counts agree. */
export async function countListed(client: ApiClient): Promise<NonNullable<Counts['listed']>> {
  for (let look = 1; ; look++) {
    const { sites } = await client.json('/facets', {}, countedSites);
    const items = await countItems(client, { status: 'active' });
    const ofSites = sites.reduce((sum, site) => sum + site.items, 0n);
    if (ofSites === items || look === LOOKS) return { items, sites };
  }
}
