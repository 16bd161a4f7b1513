import { createOfflineClient } from '../api/offline-client.js';
import type { Pipeline } from '../config/pipeline-file.js';
import type { Io } from '../io/io.js';
import type { Lake } from '../lake/lake.js';
import type { LandedRun } from '../landing/landed-runs.js';
import { linkRun } from '../landing/landing.js';
import { readRunSelection } from '../run/dataset-selection.js';
import { syncPipeline } from '../sync/sync.js';

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
      datasets: readRunSelection(run.journal),
      history: readHistorySetting(run),
      products: run.journal.last('products.done')?.whole === true ? 'all' : 'none',
    },
    lake: { ...pipeline.lake, path: root, remote: undefined, retention: 0 },
    landing: { ...pipeline.landing, keep: Number.MAX_SAFE_INTEGER },
  };
  await syncPipeline(settings, io, stop, { connect: () => createOfflineClient('rebuild') });
}

/** Infers the setting from where the run began the feed: at its beginning, at the newest change, or after it. */
function readHistorySetting({ journal }: LandedRun): 'feed' | 'items' | 'none' {
  const pages = journal.all('feed.page');
  const lowWatermark = journal.last('watermark')?.cursor ?? undefined;
  if (pages.some(({ after }) => after === 0n) && lowWatermark !== 0n) return 'feed';
  return lowWatermark !== undefined && pages.some(({ after }) => after === lowWatermark - 1n) ? 'items' : 'none';
}
