import type { Pipeline } from '../config/pipeline-file.js';
import { type Io, reportStep } from '../io/io.js';
import { settleAll } from '../io/side-by-side.js';
import { listIdleRuns } from '../journal/memory.js';
import { type Attribution, readAttributions } from '../lake/attribution.js';
import { compactLake } from '../lake/compact.js';
import { loadFooterReader } from '../lake/data-file.js';
import { explainDamage, explainMemory, explainSystemFault } from '../lake/faults.js';
import { readPartial } from '../lake/partial.js';
import { refreshPointer } from '../lake/publish.js';
import { relateTable } from '../lake/views.js';
import type { RunCaps } from '../plan/allowance.js';
import { type Remote, withRemote } from '../remote/remote.js';
import { countUsage } from '../source/count-usage.js';
import { type TakenHistories, takeHistories } from '../source/fetch-histories.js';
import type { CheckResult } from '../tables/table.js';
import type { Batch } from './apply/apply.js';
import { normalizeRun } from './apply/normalize.js';
import { stageRun, stageServiceProducts } from './derive/stage-run.js';
import { extractDatasets, extractRun } from './land/extract.js';
import type { Extract } from './land/landed-run.js';
import { closeRun, dropIdleRun } from './open/close-run.js';
import { type Deadline, NO_DEADLINE } from './open/deadline.js';
import { type OpenOptions, openRun, type Run } from './open/open-run.js';
import { auditRun, keepCounts } from './prove/audit.js';
import { askFacets, compareFacets } from './prove/compare-facets.js';
import { compareProducts, landServiceProducts } from './prove/compare-products.js';
import type { RunRow } from './prove/ledger.js';
import { countReceived, describeRun, isIdle, isUnchanged, settleTally } from './prove/run-record.js';
import { publishRun } from './publish/publish.js';
import { openHeld } from './publish/publish-held.js';

/** What a run did. */
export interface RunReport {
  /** False when nothing had changed: no file was written. */
  published: boolean;
  /** True when the run continued an interrupted one. */
  resumed: boolean;
  row: RunRow;
  checks: CheckResult[];
  /** Histories that were read item by item, where the pipeline asks for them; behind a first copy, by a run of their own. */
  histories?: TakenHistories & { runId: string };
}

export interface SyncOptions {
  /** Publishes the batch that a failed gate holds, without a call; nothing else. */
  publishHeld?: boolean;
  /** When to stop at the next point where stopping loses nothing. */
  deadline?: Deadline;
  /** What the command line allows this run. */
  caps?: RunCaps;
  /** Makes the client; default: of the service that the pipeline names. */
  connect?: OpenOptions['connect'];
  /** Gets the time that each step took, even one that failed. */
  onStep?: (step: SyncStep, seconds: number) => void;
}

/** The steps that are timed; a run without news has no more than the first two. */
export type SyncStep = 'open' | 'extract' | 'normalize' | 'stage' | 'compare' | 'audit' | 'publish' | 'compact';

/**
 * The story of a run: land what is new, type and merge it, stage every table beside the lake, check the lake as it
 * would be, and publish. Every step is journaled or repeatable: a run that was stopped anywhere continues from there.
 * @throws PricelakeError `disk_full`, `open_files`, `out_of_memory` or `lake_read_only` for what the machine refuses, `lake_invalid` for damaged files of tables; what the stages throw passes through.
 */
export function syncPipeline(
  pipeline: Pipeline,
  io: Io,
  signal?: AbortSignal,
  options: SyncOptions = {},
): Promise<RunReport> {
  return explainSystemFault(pipeline.lake.path, () =>
    explainDamage(pipeline.lake.path, () =>
      withRemote(pipeline.lake, io, signal, (remote, stop) => runWithHistories(pipeline, io, stop, options, remote)),
    ),
  );
}

/** Items' histories come ahead of the run that takes them over; those of a first copy with a second run. */
async function runWithHistories(
  pipeline: Pipeline,
  io: Io,
  signal: AbortSignal | undefined,
  options: SyncOptions,
  remote: Remote | undefined,
): Promise<RunReport> {
  const run = () => runSteps(pipeline, io, signal, options, remote);
  const { deadline = NO_DEADLINE, publishHeld = false, connect } = options;
  // A rebuild has a client of its own, and what was read then.
  if (pipeline.source.history !== 'items' || publishHeld || connect !== undefined) return run();
  const stop = signal ?? new AbortController().signal;
  const take = () => takeHistories(pipeline, deadline.limitIo(io), stop, deadline.connect, remote?.bring);
  const ahead = await take();
  const report = await run();
  if (ahead !== undefined) return { ...report, histories: { ...ahead, runId: report.row.run_id } };
  const behind = await take();
  if (behind === undefined || behind.asked + behind.left === 0) return report;
  const { row } = await run();
  return { ...report, histories: { ...behind, runId: row.run_id } };
}

async function runSteps(
  pipeline: Pipeline,
  io: Io,
  signal: AbortSignal | undefined,
  { publishHeld = false, deadline = NO_DEADLINE, connect = deadline.connect, caps = {}, onStep }: SyncOptions,
  remote: Remote | undefined,
): Promise<RunReport> {
  const step = timeSteps(io, onStep);
  const opening = publishHeld ? await openHeld(pipeline.lake.path) : { connect };
  const run = await step('open', () =>
    openRun(pipeline, deadline.limitIo(io), { signal, caps, bring: remote?.bring, ...opening }),
  );
  const pause = () => {
    run.stop.throwIfAborted();
    deadline.check();
  };
  try {
    if (run.landing.journal.state.isMerged && run.standing.items === 'committed') run.typing.leaveItems();
    const extract = await step('extract', () => extractRun(run));
    if (await isIdle(run, extract)) return await endIdle(run, extract);
    pause();
    loadFooterReader().catch(() => {}); // whoever reads a footer gets its error
    const datasets = await extractDatasets(run);
    const answer = await askFacets(run, extract);
    const batch = await step('normalize', () => reportStep(io, 'typing', () => normalizeRun(run, extract, datasets)));
    pause();
    if (await isUnchanged(run, batch)) return await endIdle(run, extract, batch);
    const settled = await settleTally(run, batch.tally);
    // The service answers while the tables are made.
    const [{ next: staged, attributions, compared }, landedProducts] = await settleAll([
      step('stage', () => stageRun(run, extract, datasets, batch)),
      landServiceProducts(run, extract),
    ]);
    const { products, facets } = await step('compare', () =>
      reportStep(io, 'comparing', async () => {
        const own = { products: await staged.rows('products'), product_prices: await staged.rows('product_prices') };
        const products = await compareProducts(run, own, landedProducts);
        const facets = await compareFacets(run, await staged.rows('items'), answer, batch.names.readable);
        return { products, facets };
      }),
    );
    const next = staged.with(...(await stageServiceProducts(run, products.rows, attributions)));
    const items = await run.graph.count(await next.rows('items'));
    const usage = await countUsage(run);
    const found = { ...batch.comparison, compared, products: products.found, facets, usage, items };
    const row = await describeRun(run, extract, settled.tally, batch, found);
    const rows = [...listIdleRuns(run.memory.state, run.tables.runs.applied.run), row];
    const audited = { next, merge: batch.merge, rows, waived: publishHeld };
    const audit = await step('audit', () => auditRun(run, audited));
    pause();
    await remote?.saveLanding();
    await step('publish', async () => {
      await publishRun(run, settled, next, { rows, checks: audit.checks, attributions });
      await keepCounts(run, audit);
      await remote?.publish();
    });
    if (!deadline.hasPassed()) await step('compact', () => compactRun(run));
    return { published: true, resumed: run.resumed, row, checks: audit.checks };
  } finally {
    await closeRun(run);
  }
}

function timeSteps(io: Io, onStep: SyncOptions['onStep']) {
  return async <T>(step: SyncStep, work: () => Promise<T>): Promise<T> => {
    const start = io.now().getTime();
    try {
      return await explainMemory(`step ${step}`, work);
    } finally {
      onStep?.(step, (io.now().getTime() - start) / 1000);
    }
  };
}

/** Nothing is new: no file is written, and the run's row of the ledger waits for the next run that writes. */
async function endIdle(run: Run, extract: Extract, batch?: Batch): Promise<RunReport> {
  const tally = batch && { received: countReceived(run), ...batch.tally };
  const row = await describeRun(run, extract, tally, batch);
  await dropIdleRun(run);
  await run.memory.append({ type: 'idle', row });
  await refreshPointer(run.lake, await readCredits(run));
  return { published: false, resumed: run.resumed, row, checks: [] };
}

/** Undefined where that would fetch files. */
async function readCredits({ db, lake }: Run): Promise<Attribution[] | undefined> {
  if ((await readPartial(lake)) !== undefined) return undefined;
  return readAttributions(db, await relateTable(db, lake, 'sites'));
}

/** Joins the small files of tables that have many, after the run has published. Costs nothing where there are few. */
async function compactRun({ db, lake, io, stop, pipeline }: Run): Promise<void> {
  await compactLake(db, lake, 'due', io, { stop, targetBytes: pipeline.lake.targetFileSize });
}
