import type { Pipeline } from '../config/pipeline-schema.js';
import type { Io } from '../io/io.js';
import type { ChangeSource, Store, Witness } from '../run/open/wings.js';
import type { RunReport, SyncOptions } from '../run/sync.js';

/** Plugs something into runs, or does something around them. */
export interface Wing {
  sources?: readonly ChangeSource[];
  witnesses?: readonly Witness[];
  /** Does `work` with a store, or without one where the pipeline asks for none. */
  holdStore?<T>(
    lake: Pipeline['lake'],
    io: Io,
    signal: AbortSignal | undefined,
    work: (store: Store | undefined, stop: AbortSignal | undefined) => Promise<T>,
  ): Promise<T>;
  /** Does what the wing adds before a run, and behind it. */
  surround?(asked: AskedSync, run: () => Promise<SyncReport>): Promise<SyncReport>;
}

/** A run that is asked for. */
export interface AskedSync {
  pipeline: Pipeline;
  io: Io;
  signal: AbortSignal | undefined;
  options: SyncOptions;
  store: Store | undefined;
}

export interface SyncReport extends RunReport {
  /** Histories that were read item by item, where the pipeline asks for them; behind a first copy, by a run of their own. */
  histories?: { asked: number; left: number; runId: string };
}
