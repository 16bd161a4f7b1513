import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Pipeline } from '../../config/pipeline.js';
import type { Shards } from '../../config/shard-schema.js';
import { PricelakeError } from '../../io/errors.js';
import { ShareLedger } from './share-ledger.js';

export const shardPath = (lakePath: string, name: string): string => join(lakePath, name);

/** Returns the name of the shard whose lake is in the folder, or undefined if there is no such shard. */
export function findShard({ source, lake }: Pipeline, folder: string): string | undefined {
  const names = Object.keys(source.shards ?? {});
  return names.find((name) => resolve(shardPath(lake.path, name)) === resolve(folder));
}

/**
 * Returns the pipeline of one shard. It has only the shard's datasets and its share of the budget. Its lake is in a
 * subfolder of `lake.path`, and in a subfolder of the remote. A pipeline without shards is returned unchanged.
 * @throws PricelakeError `usage` if the pipeline has shards and the name is missing, or if the name isn't a shard
 */
export async function chooseShard(pipeline: Pipeline, name: string | undefined): Promise<Pipeline> {
  const { source, lake, budget, file } = pipeline;
  const { shards, ...rest } = source;
  if (shards === undefined && name === undefined) return pipeline;
  const shard = name === undefined ? undefined : shards?.[name];
  if (shards === undefined || name === undefined || shard === undefined) throw refuseName(file, shards, name);
  await mkdir(lake.path, { recursive: true });
  const path = shardPath(lake.path, name);
  const remote = lake.remote === undefined ? undefined : addToPrefix(lake.remote, name);
  return {
    ...pipeline,
    name: `${pipeline.name}-${name}`,
    source: { ...rest, datasets: [...shard.datasets].sort((a, b) => (a < b ? -1 : 1)) },
    lake: { ...lake, path, remote },
    budget: { ...budget, share: new ShareLedger(name, findPart(shards, name), `${path}.budget.json`) },
  };
}

function refuseName(file: string, shards: Shards | undefined, name: string | undefined): PricelakeError {
  if (shards === undefined) {
    const hint = 'Define source.shards, or omit --dataset.';
    return new PricelakeError('usage', `${file} doesn't define any shards, so ${name} doesn't exist`, { hint });
  }
  const names = Object.keys(shards).join(', ');
  const what =
    name === undefined ? `${file} has a separate lake for each shard` : `${file} doesn't define a shard named ${name}`;
  return new PricelakeError('usage', what, { hint: `Choose one with --dataset: ${names}.` });
}

/** Appends `/name` to the path of a remote address such as `s3://bucket/prefix?endpoint=…`. */
function addToPrefix(remote: string, name: string): string {
  const [address = '', ...query] = remote.split('?');
  return [`${address.replace(/\/$/u, '')}/${name}`, ...query].join('?');
}

/**
 * Returns the share of the budget that a shard may use, from 0 to 1. Shards for which no share is set divide the rest
 * equally.
 */
export function findPart(shards: Shards, name: string): number {
  const own = shards[name]?.budget;
  if (own !== undefined) return own / 100;
  const all = Object.values(shards);
  const left = 100 - all.reduce((sum, { budget = 0 }) => sum + budget, 0);
  return left / 100 / all.filter(({ budget }) => budget === undefined).length;
}
