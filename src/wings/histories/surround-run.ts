import { NO_DEADLINE } from '../../run/open/deadline.js';
import type { AskedSync, SyncReport } from '../wing.js';
import { takeHistories } from './fetch-histories.js';

/**
 * Downloads the histories of items before a run, so that the run adds them to the lake. Before a first copy, the items
 * aren't known yet. In that case, downloads the histories after the run, and starts a second run that adds them.
 */
export async function surroundRun(
  { pipeline, io, signal, options, store }: AskedSync,
  run: () => Promise<SyncReport>,
): Promise<SyncReport> {
  const { deadline = NO_DEADLINE, publishHeld = false, connect = deadline.connect } = options;
  if (pipeline.source.history !== 'items' || publishHeld) return run();
  const stop = signal ?? new AbortController().signal;
  const take = () => takeHistories(pipeline, deadline.limitIo(io), stop, connect, store?.provide);
  const ahead = await take();
  const report = await run();
  if (ahead !== undefined) return { ...report, histories: { ...ahead, runId: report.row.run_id } };
  const behind = await take();
  if (behind === undefined || behind.asked + behind.left === 0) return report;
  const { row } = await run();
  return { ...report, histories: { ...behind, runId: row.run_id } };
}
