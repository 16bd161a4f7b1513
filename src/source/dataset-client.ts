import type { ApiClient, Query } from '../api/client.js';
import { PricelakeError } from '../io/errors.js';
import type { Dataset } from '../journal/run-entry.js';
import type { DatasetSelection } from '../tables/table.js';

export interface DatasetPart {
  dataset: Dataset;
  client: ApiClient;
}

/** The endpoints that accept the parameter `dataset` (API §4). */
const OF_A_DATASET = new Set(['/facets', '/items', '/changes', '/changes/recent', '/products', '/export']);

/** Returns a client for each dataset, because a request can be limited to only one dataset. */
export function listParts(client: ApiClient, datasets: readonly Dataset[]): DatasetPart[] {
  return datasets.map((dataset) => ({ dataset, client: dataset === undefined ? client : askFor(client, dataset) }));
}

export function listSelectedParts(client: ApiClient, selection: DatasetSelection): DatasetPart[] {
  return listParts(client, selection === 'all' ? [undefined] : selection);
}

/** Returns a client that limits requests to a dataset if the endpoint allows it. Plan errors then name the dataset. */
function askFor(client: ApiClient, dataset: bigint): ApiClient {
  const narrow = (path: string, query: Query): Query => (OF_A_DATASET.has(path) ? { ...query, dataset } : query);
  const named = <T>(answer: Promise<T>) => answer.catch((error: unknown) => nameDataset(error, dataset));
  return {
    ...client,
    json: (path, query, schema) => named(client.json(path, narrow(path, query), schema)),
    bytes: (path, query) => named(client.bytes(path, narrow(path, query))),
    stream: (path, query) => named(client.stream(path, narrow(path, query))),
  };
}

function nameDataset(error: unknown, dataset: bigint): never {
  if (!(error instanceof PricelakeError) || error.facts.limit !== 'datasets') throw error;
  const message = `the plan doesn't include dataset ${dataset}: ${error.message}`;
  throw new PricelakeError(error.code, message, { ...error.facts, dataset: String(dataset) }, { cause: error });
}
