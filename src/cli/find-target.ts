import type { Pipeline } from '../config/pipeline.js';
import type { ReadingSettings } from '../config/pipeline-schema.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { CommandContext, ValueOf } from './command.js';
import { findPipeline, seekPipeline } from './find-pipeline.js';
import { CACHE_BYTES, findCache, type RemoteSource } from './join-lakes.js';
import { chooseShard, findShard, shardPath } from './shards/choose-shard.js';
import type { REMOTE } from './shared-options.js';

/** Names a lake by its folder, or by its pipeline file. */
export interface TargetArguments {
  pipeline?: string | undefined;
  lake?: string | undefined;
  /** A shard of the pipeline file. */
  dataset?: string | undefined;
}

/** The folder to read, and the settings of the pipeline file if one is named or found. */
export interface ReadingTarget {
  lake: string;
  settings: ReadingSettings | undefined;
}

/**
 * Finds the lake. `--lake` takes precedence over lake.path of the pipeline file; without either, the folder is ./lake.
 * With `--lake` alone, no settings are read.
 */
export async function findTarget({ pipeline, lake }: TargetArguments): Promise<ReadingTarget> {
  const file = lake === undefined ? await seekPipeline(pipeline, process.env) : pipeline;
  if (file === undefined) return { lake: lake ?? './lake', settings: undefined };
  const { readReadingSettings } = await import('../config/pipeline-file.js');
  const settings = await readReadingSettings(file, process.env);
  const { shards } = settings.source;
  if (lake === undefined && shards !== undefined) {
    const folders = Object.keys(shards).map((name) => shardPath(settings.lake.path, name));
    const hint = `Choose one with --lake: ${folders.join(', ')}.`;
    throw new PricelakeError('usage', `${file} has a lake for each of its shards`, { hint });
  }
  return { lake: lake ?? settings.lake.path, settings };
}

/**
 * Reads the pipeline file that is named or found, and keeps its key out of logs. `--lake` replaces its lake.path, or
 * chooses one of its shards.
 * @throws PricelakeError `config`, and `usage` if the file has shards and none is chosen
 */
export async function openPipeline(
  { pipeline: named, lake, dataset }: TargetArguments,
  { io }: Pick<CommandContext, 'io'>,
): Promise<Pipeline> {
  const pipeline = await openWhole({ pipeline: named }, { io });
  const shard = dataset ?? (lake === undefined ? undefined : findShard(pipeline, lake));
  if (lake !== undefined && shard === undefined) pipeline.lake.path = lake;
  return chooseShard(pipeline, shard);
}

/** Reads the pipeline file as `openPipeline` does, with all of its shards. */
export async function openWhole(
  { pipeline: named }: Pick<TargetArguments, 'pipeline'>,
  { io }: Pick<CommandContext, 'io'>,
): Promise<Pipeline> {
  const { readPipeline } = await import('../config/pipeline-file.js');
  const pipeline = await readPipeline(await findPipeline(named, process.env), process.env);
  io.protectSecret(pipeline.source.apiKey);
  return pipeline;
}

/** Undefined without `--remote`. */
export function chooseRemote(
  { remote, cache, cacheSize = CACHE_BYTES }: { [K in keyof typeof REMOTE]?: ValueOf<(typeof REMOTE)[K]> },
  io: Io,
): RemoteSource | undefined {
  if (remote === undefined) return undefined;
  return { address: remote, cache: { folder: findCache(cache), maxBytes: cacheSize }, io };
}
