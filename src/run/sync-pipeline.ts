import type { Pipeline } from '../config/pipeline-file.js';
import type { Io } from '../io/io.js';
import { explainDamage } from '../lake/damage.js';
import { explainSystemFault } from '../lake/faults.js';
import { withRemote } from '../remote/remote.js';
import { type TakenHistories, takeHistories } from './fetch-histories.js';
import { NO_DEADLINE } from './open/deadline.js';
import { type RunReport, type Store, type SyncOptions, syncLake } from './sync.js';

export interface SyncReport extends RunReport {
  /** Histories that were read item by item, where the pipeline asks for them; behind a first copy, by a run of their own. */
  histories?: TakenHistories & { runId: string };
}

/**
 * A run with all that the pipeline asks for beside it: the lake's remote, and histories of items.
 * @throws PricelakeError `disk_full`, `open_files`, `out_of_memory` or `lake_read_only` for what the machine refuses,
 *   `lake_invalid` for damaged files of tables, and what the steps throw
 */
export function syncPipeline(
  pipeline: Pipeline,
  io: Io,
  signal?: AbortSignal,
  options: SyncOptions = {},
): Promise<SyncReport> {
  return explainSystemFault(pipeline.lake.path, () =>
    explainDamage(pipeline.lake.path, () =>
      withRemote(pipeline.lake, io, signal, (remote, stop) => syncWithHistories(pipeline, io, stop, options, remote)),
    ),
  );
}

/** Items' histories come ahead of the run that takes them over; those of a first copy with a second run. */
async function syncWithHistories(
  pipeline: Pipeline,
  io: Io,
  signal: AbortSignal | undefined,
  options: SyncOptions,
  remote: Store | undefined,
): Promise<SyncReport> {
  const run = () => syncLake(pipeline, io, signal, options, remote);
  const { deadline = NO_DEADLINE, publishHeld = false, connect = deadline.connect } = options;
  if (pipeline.source.history !== 'items' || publishHeld) return run();
  const stop = signal ?? new AbortController().signal;
  const take = () => takeHistories(pipeline, deadline.limitIo(io), stop, connect, remote?.bring);
  const ahead = await take();
  const report = await run();
  if (ahead !== undefined) return { ...report, histories: { ...ahead, runId: report.row.run_id } };
  const behind = await take();
  if (behind === undefined || behind.asked + behind.left === 0) return report;
  const { row } = await run();
  return { ...report, histories: { ...behind, runId: row.run_id } };
}
