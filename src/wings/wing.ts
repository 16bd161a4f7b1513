import type { Pipeline } from '../config/pipeline.js';
import type { Io } from '../io/io.js';
import type { Store, Wings } from '../run/open/wings.js';
import type { RunReport, SyncOptions } from '../run/sync.js';

/** An optional module. It extends runs at the points defined by `Wings`, or acts before and after them. */
export interface Wing extends Partial<Omit<Wings, 'store'>> {
  /** Runs `work` with a store, or without one if the pipeline doesn't use one. */
  holdStore?<T>(
    lake: Pipeline['lake'],
    io: Io,
    signal: AbortSignal | undefined,
    work: (store: Store | undefined, stop: AbortSignal | undefined) => Promise<T>,
    mirrored: readonly MirroredFolder[],
  ): Promise<T>;
  /** Folders in the lake that belong to the module and that a store mirrors. */
  mirrored?: readonly MirroredFolder[];
  /** Runs the sync, and can act before and after it. */
  surround?(asked: AskedSync, run: () => Promise<SyncReport>): Promise<SyncReport>;
}

/** A folder of small files. Files never change, except pointer files. */
export interface MirroredFolder {
  name: string;
  /** The name of the files that list which other files are current. A store uploads them last. */
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
  /** Histories that were downloaded item by item. After a first copy, a separate run adds them. */
  histories?: { asked: number; left: number; runId: string };
}
