import type { Pipeline } from '../config/pipeline.js';
import type { ReadingSettings } from '../config/pipeline-schema.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import type { CommandContext, ValueOf } from './command.js';
import { findPipeline, seekPipeline } from './find-pipeline.js';
import { CACHE_BYTES, findCache, type RemoteSource } from './join-lakes.js';
import { chooseShard, findShard, shardPath } from './shards/choose-shard.js';
import type { REMOTE } from './shared-options.js';

/** Identifies a lake by its folder or its pipeline file. */
export interface TargetArguments {
  pipeline?: string | undefined;
  lake?: string | undefined;
  /** The name of a shard in the pipeline file. */
  dataset?: string | undefined;
}

/** The lake's folder, and the settings of the pipeline file if there is one. */
export interface ReadingTarget {
  lake: string;
  settings: ReadingSettings | undefined;
}

/**
 * Finds the lake's folder. This is the folder in `--lake` or, without that option, lake.path in the pipeline file or,
 * without such a file, ./lake. If `--lake` is given without a pipeline file, no settings are read.
 * @throws PricelakeError `usage` if the pipeline file has shards and `--lake` is missing
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
    throw new PricelakeError('usage', `${file} has a separate lake for each shard`, { hint });
  }
  return { lake: lake ?? settings.lake.path, settings };
}

/**
 * Reads the pipeline file and keeps its API key out of logs. `--lake` replaces lake.path, or selects the shard whose
 * lake is in that folder.
 * @throws PricelakeError `config` if the file is missing or invalid, or `usage` if it has shards and no shard is
 *   selected
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

/** Reads the pipeline file like `openPipeline`, but doesn't select a shard. */
export async function openWhole(
  { pipeline: named }: Pick<TargetArguments, 'pipeline'>,
  { io }: Pick<CommandContext, 'io'>,
): Promise<Pipeline> {
  const { readPipeline } = await import('../config/pipeline-file.js');
  const pipeline = await readPipeline(await findPipeline(named, process.env), process.env);
  io.protectSecret(pipeline.source.apiKey);
  return pipeline;
}

/** Returns the object storage from which to read the lake. Returns undefined without `--remote`. */
export function chooseRemote(
  { remote, cache, cacheSize = CACHE_BYTES }: { [K in keyof typeof REMOTE]?: ValueOf<(typeof REMOTE)[K]> },
  io: Io,
): RemoteSource | undefined {
  if (remote === undefined) return undefined;
  return { address: remote, cache: { folder: findCache(cache), maxBytes: cacheSize }, io };
}
