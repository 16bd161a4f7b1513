import { stringify } from 'lossless-json';
import * as z from 'zod';
import type { ApiClient } from '../api/client.js';
import { dataset } from '../api/contract.js';
import { parseExactJson } from '../api/exact-json.js';
import type { Io } from '../io/io.js';
import type { Landing } from '../landing/landing.js';

/** A service may leave out what is null. */
const datasets = z.array(dataset.partial({ description: true, newestScrapeAt: true, oldestScrapeAt: true }));

/** Datasets the key can read, as the service describes them now (section 4, /datasets). */
export interface LandedDatasets {
  datasets: z.output<typeof datasets>;
  /** The same as they came. */
  rows: readonly unknown[];
  /** By the service's clock, as the times in the rows are; by this machine's where answers have no valid `Date`. */
  readAt: string;
}

/** Reads `/datasets`; the answer lands in the journal. */
export async function landDatasets(client: ApiClient, landing: Landing, io: Io): Promise<LandedDatasets> {
  let landed = landing.journal.last('datasets');
  if (landed === undefined) {
    const answer = stringify(await client.json('/datasets', {}, datasets)) ?? '[]';
    const readAt = (client.serviceTime() ?? io.now()).toISOString();
    landed = { type: 'datasets', readAt, answer, calls: client.calls() };
    await landing.journal.append(landed);
    io.log('debug', 'landed', { what: 'datasets' });
  }
  const { answer, readAt } = landed;
  return { datasets: datasets.parse(parseExactJson(answer)), rows: JSON.parse(answer) as unknown[], readAt };
}
