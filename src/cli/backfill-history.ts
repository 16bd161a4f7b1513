import type { Pipeline } from '../config/pipeline-schema.js';
import type { Io } from '../io/io.js';
import type { SyncOptions } from '../run/sync.js';
import { type HistorySelection, landChosenHistories } from '../wings/histories/index.js';
import { type SyncReport, syncWithWings, withWings } from '../wings/index.js';

export interface BackfillReport {
  items: number;
  /** Histories that were asked for now; the others had landed before. */
  asked: number;
  /** The run that took them over. */
  run: SyncReport;
}

/** Reads the history of chosen items, and lets a run add it. @throws PricelakeError as `landChosenHistories` and runs do */
export async function backfillHistory(
  pipeline: Pipeline,
  selection: HistorySelection,
  io: Io,
  signal: AbortSignal,
  options: SyncOptions = {},
): Promise<BackfillReport> {
  const landed = await withWings(pipeline, io, signal, ({ store }, stop = signal) =>
    landChosenHistories(pipeline, selection, io, stop, store?.bring),
  );
  return { ...landed, run: await syncWithWings(pipeline, io, signal, options) };
}
