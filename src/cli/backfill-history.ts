import type { Pipeline } from '../config/pipeline.js';
import type { Io } from '../io/io.js';
import type { SyncOptions } from '../run/sync.js';
import { type HistorySelection, landChosenHistories } from '../wings/histories/index.js';
import { type SyncReport, syncWithWings, withWings } from '../wings/index.js';

export interface BackfillReport {
  items: number;
  /** The number of histories that this command requested. Excludes histories that had already been downloaded. */
  asked: number;
  /** The run that added the histories to the lake. */
  run: SyncReport;
}

/**
 * Downloads the price history of the chosen items, then runs a sync that adds it to the lake.
 * @throws PricelakeError with any code that `landChosenHistories` or a sync throws
 */
export async function backfillHistory(
  pipeline: Pipeline,
  selection: HistorySelection,
  io: Io,
  signal: AbortSignal,
  options: SyncOptions = {},
): Promise<BackfillReport> {
  const landed = await withWings(pipeline, io, signal, ({ store }, stop = signal) =>
    landChosenHistories(pipeline, selection, io, stop, store?.provide),
  );
  return { ...landed, run: await syncWithWings(pipeline, io, signal, options) };
}
