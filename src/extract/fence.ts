import { z } from 'zod';
import type { ApiClient } from '../api/client.js';
import { int64 } from '../api/contract.js';

/** Of the newest change only its id is needed: what else it holds is no reason to stop a first run. */
const newest = z.looseObject({ changes: z.array(z.looseObject({ id: int64 })) });

/** Id of the newest change, a safe start for the feed; 0 when there is none (section 4, /changes/recent). */
export async function readNewestChangeId(client: ApiClient): Promise<bigint> {
  const page = await client.json('/changes/recent', { limit: 1 }, newest);
  return page.changes[0]?.id ?? 0n;
}
