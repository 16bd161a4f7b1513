import { stringify } from 'lossless-json';
import * as z from 'zod';
import type { ApiClient, Query } from '../api/client.js';
import { dataset, facets } from '../api/contract.js';
import { parseExactJson } from '../api/exact-json.js';
import { int64 } from '../api/wire-types.js';
import type { Io } from '../io/io.js';
import { type Landing, readApplicable } from '../journal/landings.js';
import { type Applicable, isApplicable } from '../journal/run-state.js';
import type { Counts } from '../plan/plan-shards.js';

/** A service may leave out what is null. */
const datasets = z.array(dataset.partial({ description: true, newestScrapeAt: true, oldestScrapeAt: true }));

/** Datasets the key can read, as the service describes them now (section 4, /datasets). */
export interface LandedDatasets {
  datasets: z.output<typeof datasets>;
  /** The same as they came. */
  rows: readonly unknown[];
  /** By the service's clock, as the times in the rows are; by this machine's where answers have no valid `Date`. */
  readAt: string;
  /** Number of the caller's datasets that the plan locks; undefined if the plan was not read with them. */
  locked: number | undefined;
  /** The run that has landed them, with all that it applies. */
  run: Applicable;
}

/** Reads `/datasets`; the answer lands in the journal, with the number of those that the plan locks. */
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

/** The answer of `/datasets` that a run has landed. */
export function readDatasets(run: Applicable): LandedDatasets {
  const { answer, readAt, locked } = run.datasets;
  const rows = JSON.parse(answer) as unknown[];
  return { datasets: datasets.parse(parseExactJson(answer)), rows, readAt, locked, run };
}

/** A service may leave out what is null. */
export const facetsAnswer = facets.extend({
  categories: z.array(facets.shape.categories.element.partial({ parentId: true })),
});

/** Reads `/facets` (section 4) as JSON text, and journals the answer. A later try does not ask again. */
export async function landFacets(client: ApiClient, landing: Landing, io: Io): Promise<string> {
  const landed = landing.journal.state.comparisons.facets;
  if (landed !== undefined) return landed;
  const answer = stringify(await client.json('/facets', {}, facetsAnswer)) as string;
  await landing.journal.append({ type: 'facets', answer, calls: client.calls() });
  io.log('debug', 'landed', { what: 'facets' });
  return answer;
}

/** Most looks, since two answers may differ while items change. */
const LOOKS = 3;

/** Only the counts are parsed, so that drift in other fields can't stop a run. */
const countedSites = z.looseObject({ sites: z.array(z.looseObject({ id: int64, items: int64 })) });
const counted = z.looseObject({ totalElements: int64 });

/** Counts items, removed ones included: all that the client may see, or those that a query names (section 4, /items). */
export async function countItems(client: ApiClient, query: Query = {}): Promise<bigint> {
  return (await client.json('/items', { status: 'all', ...query, size: 1 }, counted)).totalElements;
}

/** Counts the listed items (section 4, /items), and those of each website (/facets), until the counts agree. */
export async function countListed(client: ApiClient): Promise<NonNullable<Counts['listed']>> {
  for (let look = 1; ; look++) {
    const { sites } = await client.json('/facets', {}, countedSites);
    const items = await countItems(client, { status: 'active' });
    const ofSites = sites.reduce((sum, site) => sum + site.items, 0n);
    if (ofSites === items || look === LOOKS) return { items, sites };
  }
}
