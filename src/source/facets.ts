import { stringify } from 'lossless-json';
import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { facets } from '../api/contract.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../journal/landings.js';

/** The schema of the /facets response. Nullable fields may be missing, because some services omit nulls. */
export const facetsAnswer = facets.extend({
  categories: z.array(facets.shape.categories.element.partial({ parentId: true })),
});

/** Requests `/facets` (API §4), journals the response, and returns it as JSON text. Later attempts use this text. */
export async function landFacets(client: ApiClient, landing: Landing, io: Io): Promise<string> {
  const landed = landing.journal.state.comparisons.facets;
  if (landed !== undefined) return landed;
  const answer = stringify(await client.json('/facets', {}, facetsAnswer)) as string;
  await landing.journal.append({ type: 'facets', answer, calls: client.calls() });
  io.log('debug', 'landed', { what: 'facets' });
  return answer;
}
