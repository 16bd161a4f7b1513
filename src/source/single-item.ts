import type { ApiClient } from '../api/client.js';
import { readFields } from '../formats/json-scan.js';
import { PricelakeError } from '../io/errors.js';

/** The item's bytes, or undefined when it is not among the items the caller can see (section 4, /items/{id}: 404). */
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
