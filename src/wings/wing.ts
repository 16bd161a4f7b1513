import type { Pipeline } from '../config/pipeline.js';
import type { Io } from '../io/io.js';
import type { Store, Wings } from '../run/open/wings.js';
import type { RunReport, SyncOptions } from '../run/sync.js';

/** An optional capability that plugs into runs, or acts around them. */
export interface Wing extends Partial<Omit<Wings, 'store'>> {
  /** Does `work` with a store, or without one where the pipeline asks for none. */
  holdStore?<T>(
    lake: Pipeline['lake'],
    io: Io,
    signal: AbortSignal | undefined,
    work: (store: Store | undefined, stop: AbortSignal | undefined) => Promise<T>,
    mirrored: readonly MirroredFolder[],
  ): Promise<T>;
  /** Folders that the wing keeps in the lake. A store mirrors them. */
  mirrored?: readonly MirroredFolder[];
  /** Acts before and after a run. */
  surround?(asked: AskedSync, run: () => Promise<SyncReport>): Promise<SyncReport>;
}

/** A folder of small files. Only its pointers change under their names. */
export interface MirroredFolder {
  name: string;
  /** The name of the files that say which others are current. A store sends them after the others. */
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
  /**
   * Histories that were read item by item, if the pipeline asks for them. After a first copy, a run of their own adds
   * them.
   */
  histories?: { asked: number; left: number; runId: string };
}
