import type { ApiClient } from '../api/client.js';
import { changePage } from '../api/contract.js';

/** Id of the newest change, a safe start for the feed; 0 when there is none (section 4, /changes/recent). */
export async function readNewestChangeId(client: ApiClient): Promise<bigint> {
  const page = await client.json('/changes/recent', { limit: 1 }, changePage);
  return page.changes[0]?.id ?? 0n;
}
