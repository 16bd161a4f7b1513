import { countOf, formatCount } from '../../formats/count.js';
import type { SyncOptions } from '../../run/sync.js';
import type { SyncReport } from '../../wings/index.js';
import { landWithWings, syncWithWings } from '../../wings/index.js';
import { type BackfillReport, backfillHistory } from '../backfill-history.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { sync } from '../commands/copy.js';
import { openPipeline } from '../find-target.js';
import { resolveFlags } from '../notify/receivers.js';
import { openLineage } from '../observers/lineage.js';
import { openMetricsFile } from '../observers/metrics.js';
import { openNotifier } from '../observers/notify-run.js';
import { type RunObserver, watchRun } from '../observers/watch-run.js';
import { describeReport, formatReport } from '../run-report.js';
import { setDeadline } from '../set-deadline.js';

export interface SyncTerms extends Pick<SyncOptions, 'connect' | 'caps'> {
  /** True if the pipeline is run only once, even if that run just finishes an interrupted run; see `runSync`. */
  isOnce?: boolean;
}

/**
 * Runs a pipeline. If the user asked for a full copy, but this run only finished an interrupted run of another mode,
 * the pipeline is run again.
 */
export async function runSync(
  request: Arguments<typeof sync>,
  context: CommandContext,
  { isOnce = false, ...terms }: SyncTerms = {},
) {
  if (request.landOnly === true) return land(request, context);
  const { backfill } = request;
  const { io, signal, say, style } = context;
  let lakePath = '';
  let histories: BackfillReport | undefined;
  const report = await watchRun(await listObservers(request, context), io, signal, async (watch) => {
    const { pipeline, options } = await prepare(request, context);
    lakePath = pipeline.lake.path;
    await watch.begin(pipeline);
    const publishHeld = request.publishHeld === true;
    const whole = { ...options, ...terms, publishHeld, onStep: watch.onStep };
    if (backfill !== undefined) {
      histories = await backfillHistory(pipeline, backfill, io, signal, whole);
      return histories.run;
    }
    const sync = (): Promise<SyncReport> => syncWithWings(pipeline, io, signal, whole);
    const report = await sync();
    // An interrupted run continues in its own mode, so the full copy needs another run.
    return request.reconcile === true && !isOnce && report.row.mode !== 'snapshot' ? sync() : report;
  });
  if (histories !== undefined)
    await say(`Histories of ${countOf(histories.items, 'item')}; ${formatCount(histories.asked)} read in this run.\n`);
  await say(formatReport(report, lakePath, { style, columns: context.output.columns }));
  const read = histories === undefined ? {} : { items_chosen: histories.items, histories_read: histories.asked };
  return { ...read, ...describeReport(report, lakePath) };
}

async function prepare(request: Arguments<typeof sync>, context: CommandContext) {
  const { deadline, reconcile, maxRows, maxOverage } = request;
  const options: SyncOptions = {
    caps: { maxRows, maxOverage },
    ...(deadline === undefined ? {} : { deadline: setDeadline(deadline.ms, deadline.text, context.io) }),
  };
  const pipeline = await openPipeline(request, context);
  if (reconcile === true) pipeline.source.mode = 'snapshot';
  return { pipeline, options };
}

async function land(request: Arguments<typeof sync>, context: CommandContext): Promise<CommandReport> {
  const { io, signal, say } = context;
  const { pipeline, options } = await prepare(request, context);
  const report = await landWithWings(pipeline, io, signal, options);
  const { path } = pipeline.lake;
  await say(
    report.landed
      ? `Run ${report.runNumber} downloaded ${countOf(report.rows, 'row')} to ${report.folder} (${countOf(report.calls, 'call')}). The tables are unchanged; the next sync continues the run.\n`
      : `No changes (${countOf(report.calls, 'call')}). ${path} is unchanged.\n`,
  );
  const { runId, runNumber, ...figures } = report;
  return { ...figures, run_id: runId, run_number: runNumber, lake: path };
}

async function listObservers({ metrics, openlineage, notify }: Arguments<typeof sync>, { io }: CommandContext) {
  // The notifier is the first observer, so that it sends its messages even if the metrics file can't be written.
  const observers: RunObserver[] = [openNotifier(resolveFlags(notify, process.env, io), io, process.env)];
  if (metrics !== undefined) observers.push(await openMetricsFile(metrics));
  if (openlineage !== undefined) observers.push(openLineage(openlineage, io, process.env));
  return observers;
}
