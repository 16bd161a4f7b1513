import { stringify } from 'lossless-json';
import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { facets } from '../api/contract.js';
import { int64 } from '../api/wire-types.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';
import type { Counts } from '../plan/plan-shards.js';

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
const page = z.looseObject({ totalElements: int64 });

/** Counts the listed items (section 4, /items), and those of each website (/facets), until the counts agree. */
export async function countListed(client: ApiClient): Promise<NonNullable<Counts['listed']>> {
  for (let look = 1; ; look++) {
    const { sites } = await client.json('/facets', {}, countedSites);
    const { totalElements: items } = await client.json('/items', { status: 'active', size: 1 }, page);
    const counted = sites.reduce((sum, site) => sum + site.items, 0n);
    if (counted === items || look === LOOKS) return { items, sites };
  }
}
