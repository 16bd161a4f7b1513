import { createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import { PricelakeError } from '../../io/errors.js';
import type { RunCaps } from '../../plan/allowance.js';
import type { RunEstimate } from '../../run/estimate/estimate-run.js';
import { limitClient } from '../../run/open/account.js';
import { fetchDatasets } from '../../run/open/dataset-selection.js';
import { listParts } from '../../source/dataset-client.js';
import { countItems } from '../../source/datasets.js';
import { estimateWithWings } from '../../wings/index.js';
import type { CommandContext } from '../command.js';
import { chooseShard } from './choose-shard.js';

export interface ShardEstimate extends Omit<RunEstimate, 'refusal'> {
  shard: string;
  lake: string;
  /** The reason why the run would refuse to start or would stop early. Undefined if it would do neither. */
  refusal: { code: string; message: string } | undefined;
}

/** Listings that are in the datasets of several shards. A first copy pays for such a listing once in each shard. */
export interface Overlap {
  /** The sum of the numbers of listings in all datasets of all shards. */
  counted: bigint;
  /** The minimum and the maximum of the number of listings that are paid for more than once. */
  least: bigint;
  most: bigint;
}

export interface ShardPlans {
  shards: ShardEstimate[];
  overlap: Overlap;
  refusal: PricelakeError | undefined;
}

type Planning = Pick<CommandContext, 'io' | 'signal'> & { caps: RunCaps; isReconcile: boolean };

/** Estimates the next run of each shard, and counts the listings that several shards have in common. */
export async function estimateShards(pipeline: Pipeline, planning: Planning): Promise<ShardPlans> {
  const { shards } = pipeline.source;
  if (shards === undefined) {
    const hint = 'Define source.shards, or omit --all.';
    throw new PricelakeError('usage', `${pipeline.file} doesn't define any shards`, { hint });
  }
  const estimates: ShardEstimate[] = [];
  let first: PricelakeError | undefined;
  for (const name of Object.keys(shards)) {
    const own = await chooseShard(pipeline, name);
    if (planning.isReconcile) own.source.mode = 'snapshot';
    const { refusal, ...priced } = await estimateWithWings(own, planning.io, planning);
    first ??= refusal;
    const refused = refusal && { code: refusal.code, message: refusal.message };
    estimates.push({ shard: name, lake: own.lake.path, ...priced, refusal: refused });
  }
  const datasets = Object.values(shards).flatMap((shard) => shard.datasets);
  return { shards: estimates, overlap: await countOverlap(pipeline, datasets, planning), refusal: first };
}

/**
 * Counts the listings that are in several datasets. The service returns such a listing once for each of these datasets,
 * because the API's filters can select a dataset but not exclude one (API §4, /items). The service reports the number
 * of listings in each dataset, and the number of all listings that the key can read. If the shards cover all datasets,
 * the overlap is the sum of the datasets' numbers minus the number of all listings. Otherwise, only bounds are known.
 * All datasets together have at least as many listings as the largest dataset, and no more than the key can read.
 */
async function countOverlap(pipeline: Pipeline, datasets: readonly bigint[], planning: Planning): Promise<Overlap> {
  const client = createClient({ ...pipeline.source, signal: planning.signal }, planning.io);
  try {
    await limitClient(client, pipeline.budget);
    const counts: bigint[] = [];
    for (const part of listParts(client, datasets)) counts.push(await countItems(part.client));
    const all = await countItems(client);
    const counted = counts.reduce((sum, count) => sum + count, 0n);
    const largest = [...counts].sort((a, b) => (a < b ? -1 : 1)).at(-1) ?? 0n;
    const readable = await fetchDatasets(client);
    const least = counted > all ? counted - all : 0n;
    return { counted, least, most: readable.every(({ id }) => datasets.includes(id)) ? least : counted - largest };
  } finally {
    await client.close();
  }
}
