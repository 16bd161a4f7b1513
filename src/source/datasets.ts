import { stringify } from 'lossless-json';
import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { dataset } from '../api/contract.js';
import { parseExactJson } from '../api/exact-json.js';
import type { Io } from '../io/io.js';
import { type Landing, readApplicable } from '../journal/landings.js';
import { type Applicable, isApplicable } from '../journal/run-state.js';

/** A service may leave out what is null. */
const datasets = z.array(dataset.partial({ description: true, newestScrapeAt: true, oldestScrapeAt: true }));

/** Datasets the key can read, as the service describes them now (section 4, /datasets). */
export interface LandedDatasets {
  datasets: z.output<typeof datasets>;
  /** The same as they came. */
  rows: readonly unknown[];
  /** By the service's clock, as the times in the rows are; by this machine's where answers have no valid `Date`. */
  readAt: string;
  /** The run that has landed them, with all that it applies. */
  run: Applicable;
}

/** Reads `/datasets`; the answer lands in the journal. */
export async function landDatasets(client: ApiClient, landing: Landing, io: Io): Promise<LandedDatasets> {
  const { journal } = landing;
  if (!isApplicable(journal.state)) {
    const answer = stringify(await client.json('/datasets', {}, datasets)) ?? '[]';
    const readAt = (client.serviceTime() ?? io.now()).toISOString();
    await journal.append({ type: 'datasets', readAt, answer, calls: client.calls() });
    io.log('debug', 'landed', { what: 'datasets' });
  }
  return readDatasets(readApplicable(landing));
}

/** The answer of `/datasets` that a run has landed. */
export function readDatasets(run: Applicable): LandedDatasets {
  const { answer, readAt } = run.datasets;
  return { datasets: datasets.parse(parseExactJson(answer)), rows: JSON.parse(answer) as unknown[], readAt, run };
}
