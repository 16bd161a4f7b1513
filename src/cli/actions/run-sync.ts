import { findPipeline } from '../../config/find-pipeline.js';
import { readPipeline } from '../../config/pipeline-file.js';
import { setDeadline } from '../../run/deadline.js';
import { type RunReport, syncPipeline } from '../../sync/sync.js';
import { readCaps } from '../cap-options.js';
import { readDuration } from '../duration.js';
import type { CommandContext, CommandReport } from '../run-command.js';
import { describeReport, formatReport } from '../run-report.js';
import { type RunObserver, type RunWatch, watchRun } from '../watch/watch-run.js';

export interface SyncRequest {
  pipeline?: string | undefined;
  lake?: string | undefined;
  'publish-held': boolean;
  deadline?: string | undefined;
  reconcile: boolean;
  'max-rows'?: string;
  'max-overage'?: string;
  /** A file for metrics. */
  metrics?: string | undefined;
  /** A file or an address for lineage. */
  openlineage?: string | undefined;
}

/** Runs a pipeline once, or twice where an interrupted run comes before a complete copy that was asked for. */
export async function runSync(request: SyncRequest, context: CommandContext): Promise<CommandReport> {
  const { io, signal, say, style } = context;
  let lakePath = '';
  const report = await watchRun(await listObservers(request, context), io, signal, async (watch) => {
    const deadline =
      request.deadline === undefined
        ? {}
        : { deadline: setDeadline(readDuration('--deadline', request.deadline, 'refused'), request.deadline, io) };
    const pipeline = await readPipeline(await findPipeline(request.pipeline, process.env), process.env);
    if (request.lake !== undefined) pipeline.lake.path = request.lake;
    lakePath = pipeline.lake.path;
    io.protectSecret(pipeline.source.apiKey);
    if (request.reconcile) pipeline.source.mode = 'snapshot';
    await begin(watch, pipeline);
    const options = {
      publishHeld: request['publish-held'],
      caps: readCaps(request),
      onStep: watch.onStep,
      ...deadline,
    };
    const sync = (): Promise<RunReport> => syncPipeline(pipeline, io, signal, options);
    const report = await sync();
    // An interrupted run comes first, in its own mode.
    return request.reconcile && report.row.mode !== 'snapshot' ? sync() : report;
  });
  await say(formatReport(report, lakePath, style));
  return describeReport(report, lakePath);
}

function begin(
  watch: RunWatch,
  { name, source, lake, budget }: Awaited<ReturnType<typeof readPipeline>>,
): Promise<void> {
  return watch.begin({ name, baseUrl: source.baseUrl, lakePath: lake.path, budget });
}

async function listObservers({ metrics, openlineage }: SyncRequest, { io }: CommandContext): Promise<RunObserver[]> {
  const observers: RunObserver[] = [];
  if (metrics !== undefined) {
    const { openMetricsFile } = await import('../metrics/metrics-observer.js');
    observers.push(await openMetricsFile(metrics));
  }
  if (openlineage !== undefined) {
    const { openLineage } = await import('../lineage/lineage-observer.js');
    observers.push(openLineage(openlineage, io, process.env));
  }
  return observers;
}
