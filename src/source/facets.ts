import { stringify } from 'lossless-json';
import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { facets } from '../api/contract.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';

/** A service may leave out what is null. */
export const facetsAnswer = facets.extend({
  categories: z.array(facets.shape.categories.element.partial({ parentId: true })),
});

/** Reads `/facets` (section 4), JSON text; the answer lands in the journal and is not asked for again. */
export async function landFacets(client: ApiClient, landing: Landing, io: Io): Promise<string> {
  const landed = landing.journal.state.comparisons.facets;
  if (landed !== undefined) return landed;
  const answer = stringify(await client.json('/facets', {}, facetsAnswer)) as string;
  await landing.journal.append({ type: 'facets', answer, calls: client.calls() });
  io.log('debug', 'landed', { what: 'facets' });
  return answer;
}
