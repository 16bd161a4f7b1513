import type { Pipeline } from '../config/pipeline.js';
import type { Io } from '../io/io.js';
import type { Store, Wings } from '../run/open/wings.js';
import type { RunReport, SyncOptions } from '../run/sync.js';

/** An optional module. It extends runs as `Wings` defines, or acts before and after them. */
export interface Wing extends Partial<Omit<Wings, 'store'>> {
  /** Runs `work` with the module's store. Runs it without a store if the pipeline doesn't use one. */
  holdStore?<T>(
    lake: Pipeline['lake'],
    io: Io,
    signal: AbortSignal | undefined,
    work: (store: Store | undefined, stop: AbortSignal | undefined) => Promise<T>,
    mirrored: readonly MirroredFolder[],
  ): Promise<T>;
  /** The module's folders in the lake, which a store copies. */
  mirrored?: readonly MirroredFolder[];
  /** Runs the sync. The module may act before and after it. */
  surround?(asked: AskedSync, run: () => Promise<SyncReport>): Promise<SyncReport>;
}

/** A folder of small files that never change, except the pointer files. */
export interface MirroredFolder {
  name: string;
  /** The name of the pointer files, which list the current files. A store uploads them last. */
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
  /** The histories that were downloaded. After a first copy, a separate run adds them to the lake. */
  histories?: { asked: number; left: number; runId: string };
}
