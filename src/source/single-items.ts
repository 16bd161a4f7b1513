import pLimit from 'p-limit';
import type { ApiClient } from '../api/client.js';
import { readFields } from '../formats/json-scan.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { runSideBySide } from '../io/side-by-side.js';
import type { Landing } from '../journal/landings.js';
import type { PageKind } from '../journal/reads.js';
import type { DatasetPart } from './dataset-client.js';
import { ItemFiles } from './item-files.js';

/** Reads an item's bytes; undefined if the caller can't see it (section 4, /items/{id}: 404). */
export async function readItem(client: ApiClient, id: bigint): Promise<Buffer | undefined> {
  try {
    const { body } = await client.bytes(`/items/${id}`, {});
    readFields(body);
    return body;
  } catch (error) {
    if (error instanceof PricelakeError && error.code === 'not_found') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    throw new PricelakeError(
      'contract',
      `/items/${id}: the answer is not a JSON object: ${error.message}`,
      { hint: 'Check source.baseUrl, and that no proxy rewrites answers.' },
      { cause: error },
    );
  }
}

/** Requests side by side; the rate stays the client's. */
const CONCURRENCY = 4;

/**
 * Reads items one by one (section 4, /items/{id}: also when no longer listed) and lands each as a page of its own.
 * @param onMissing gets the items that the service does not show (404)
 */
export async function landSingleItems(
  { client, dataset }: DatasetPart,
  landing: Landing,
  kind: PageKind,
  itemIds: readonly bigint[],
  io: Io,
  onMissing: (id: bigint) => unknown = () => {},
): Promise<void> {
  const files = new ItemFiles(landing, kind);
  const inOrder = pLimit(1);
  try {
    await runSideBySide(CONCURRENCY, itemIds, async (id) => {
      const body = await readItem(client, id);
      if (body === undefined) return onMissing(id);
      const entry = { rows: 1, readAt: io.now().toISOString(), dataset, calls: client.calls() };
      return inOrder(() => files.land(body, [{ start: 0, end: body.length }], entry));
    });
  } finally {
    await files.close();
  }
}
