import { createOfflineClient } from '../api/offline-client.js';
import type { Pipeline } from '../config/pipeline-file.js';
import type { Io } from '../io/io.js';
import { type LandedRun, linkRun } from '../journal/landings.js';
import { readSelection } from '../journal/run-state.js';
import type { Lake } from '../lake/lake.js';
import { syncPipeline } from '../sync/sync.js';

/**
 * Does a kept run again, into another lake: the same steps over the same bytes, without a call. What the run was asked to
 * take holds, not what the pipeline says now.
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

/** Where the run took the feed from: the beginning of the plan's history, the newest change, or behind it. */
function readHistorySetting({ state: { feed, watermark } }: LandedRun): 'feed' | 'items' | 'none' {
  const lowWatermark = watermark?.cursor;
  if (feed.starts.includes(0n) && lowWatermark !== 0n) return 'feed';
  return lowWatermark !== undefined && feed.starts.includes(lowWatermark - 1n) ? 'items' : 'none';
}
