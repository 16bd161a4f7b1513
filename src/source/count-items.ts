import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { int64 } from '../api/wire-types.js';
import type { Counts } from '../plan/plan-shards.js';

/** While the world changes, two answers may differ: looked at so often until they agree. */
const LOOKS = 3;

/** Of the answers only the counts are needed. */
const facets = z.looseObject({ sites: z.array(z.looseObject({ id: int64, items: int64 })) });
const page = z.looseObject({ totalElements: int64 });

/** Counts the listed items (section 4, /items), and those of each website (/facets), until the counts agree. */
export async function countListed(client: ApiClient): Promise<NonNullable<Counts['listed']>> {
  for (let look = 1; ; look++) {
    const { sites } = await client.json('/facets', {}, facets);
    const { totalElements: items } = await client.json('/items', { status: 'active', size: 1 }, page);
    const counted = sites.reduce((sum, site) => sum + site.items, 0n);
    if (counted === items || look === LOOKS) return { items, sites };
  }
}
