import type { Pipeline } from '../config/pipeline.js';
import type { Io } from '../io/io.js';
import type { Store, Wings } from '../run/open/wings.js';
import type { RunReport, SyncOptions } from '../run/sync.js';

/** An optional module. It extends runs through the members of `Wings`, or acts before and after a run. */
export interface Wing extends Partial<Omit<Wings, 'store'>> {
  /** Runs `work` with the module's store. If the pipeline doesn't use a store, runs `work` without one. */
  holdStore?<T>(
    lake: Pipeline['lake'],
    io: Io,
    signal: AbortSignal | undefined,
    work: (store: Store | undefined, stop: AbortSignal | undefined) => Promise<T>,
    mirrored: readonly MirroredFolder[],
  ): Promise<T>;
  /** The folders of the module in the lake. A store copies these folders. */
  mirrored?: readonly MirroredFolder[];
  /** Runs the sync by calling `run`. The module may act before and after that. */
  surround?(asked: AskedSync, run: () => Promise<SyncReport>): Promise<SyncReport>;
}

/** A folder of small files that never change, except the pointer files. */
export interface MirroredFolder {
  name: string;
  /** The name of the pointer files, which name the current files. A store uploads the pointer files last. */
  pointer: string;
}

export interface AskedSync {
  pipeline: Pipeline;
  io: Io;
  signal: AbortSignal | undefined;
  options: SyncOptions;
  store: Store | undefined;
}

export interface SyncReport extends RunReport {
  /** The number of histories that were downloaded. After a first copy, a second run adds them to the lake. */
  histories?: { asked: number; left: number; runId: string };
}
