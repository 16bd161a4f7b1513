import { createOfflineClient } from '../../api/offline-client.js';
import type { Pipeline } from '../../config/pipeline-file.js';
import type { Io } from '../../io/io.js';
import { type LandedRun, linkRun } from '../../journal/landings.js';
import { readSelection } from '../../journal/run-state.js';
import type { Lake } from '../../lake/lake.js';
import { syncPipeline } from '../sync.js';

/**
 * Replays a kept run into another lake, without a call. The run's own selection holds, not the pipeline's present one.
 */
export async function replayRun(
  run: LandedRun,
  { root }: Lake,
  pipeline: Pipeline,
  io: Io,
  stop: AbortSignal,
): Promise<void> {
  await linkRun(run, root);
  const settings: Pipeline = {
    ...pipeline,
    source: {
      ...pipeline.source,
      datasets: readSelection(run.state.begin),
      history: readHistorySetting(run),
      products: run.state.comparisons.allProducts === true ? 'all' : 'none',
    },
    lake: { ...pipeline.lake, path: root, remote: undefined, retention: 0 },
    landing: { ...pipeline.landing, keep: Number.MAX_SAFE_INTEGER },
  };
  await syncPipeline(settings, io, stop, { connect: () => createOfflineClient('rebuild') });
}

/** Infers the setting from where the run began the feed: at its beginning, at the newest change, or after it. */
function readHistorySetting({ state: { feed, watermark } }: LandedRun): 'feed' | 'items' | 'none' {
  const lowWatermark = watermark?.cursor;
  if (feed.starts.includes(0n) && lowWatermark !== 0n) return 'feed';
  return lowWatermark !== undefined && feed.starts.includes(lowWatermark - 1n) ? 'items' : 'none';
}
