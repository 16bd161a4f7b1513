import { createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline-schema.js';
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

/** The next run of one shard. */
export interface ShardEstimate extends Omit<RunEstimate, 'refusal'> {
  shard: string;
  lake: string;
  /** Why the run would be refused, or stop before its end. */
  refusal: { code: string; message: string } | undefined;
}

/** Listings in datasets of several shards: a first copy buys them once for each dataset. */
export interface Overlap {
  /** Listings of the shards' datasets, each counted once for each dataset that it is in. */
  counted: bigint;
  /** Listings beyond the first copy of each, at least and at most. */
  least: bigint;
  most: bigint;
}

export interface ShardPlans {
  shards: ShardEstimate[];
  overlap: Overlap;
  refusal: PricelakeError | undefined;
}

type Planning = Pick<CommandContext, 'io' | 'signal'> & { caps: RunCaps; isReconcile: boolean };

/** Prices the next run of each shard, and counts the listings that are in several of them. */
export async function estimateShards(pipeline: Pipeline, planning: Planning): Promise<ShardPlans> {
  const { shards } = pipeline.source;
  if (shards === undefined) {
    const hint = 'Write source.shards, or drop --all.';
    throw new PricelakeError('usage', `${pipeline.file} has no shards`, { hint });
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
 * The filters of the API name a dataset to read and none to leave out (section 4, /items), so a listing in two datasets
 * comes with each. The service counts each dataset, and all that the key can read. If the shards have all datasets, the
 * difference is the overlap. Otherwise the listings of the shards are all at most, and those of the largest dataset at least.
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
