import { openStep } from '../../io/io.js';
import { settleAll } from '../../io/side-by-side.js';
import type { Publishable } from '../../journal/run-state.js';
import { type Attribution, describeAttributions, readCredits } from '../../lake/attribution.js';
import type { Tables } from '../../lake/read.js';
import { append, KEEP, replaceAll } from '../../lake/table-change.js';
import type { LandedDatasets } from '../../source/datasets.js';
import { columnsOf, sql } from '../../sql/sql.js';
import type { CopiedDatasets, DatasetSelection } from '../../tables/table.js';
import { type AppliedRun, settleTally } from '../apply/apply-run.js';
import type { LandedInput } from '../land/land-run.js';
import type { Engine, FoundLake, Ledger, World } from '../open/run-parts.js';
import { NextLake, type StagedTable, Staging } from '../open/stage.js';
import type { NextVersion } from '../open/witness.js';

/** The next version of the lake's tables. The tables that describe the run itself aren't included yet. */
export interface DerivedRun {
  applied: AppliedRun;
  /** Proves to the publish step that the journal has recorded the row counts. */
  settled: Publishable;
  next: NextLake;
  attributions: Attribution[];
}

/** Writes the next files of every table without publishing them. In parallel, comparison modules send their requests. */
export async function deriveRun(
  world: World,
  found: FoundLake,
  { landing }: Ledger,
  { graph, workFolder }: Engine,
  applied: AppliedRun,
): Promise<DerivedRun> {
  const { io } = world;
  const settled = await settleTally(world, landing, applied.tally);
  const place = { found, graph, landing, io };
  const attributions = await readCredits(graph, applied.sites.rows);
  const metadata = describeAttributions(attributions);
  const staging = openStep(io, { step: 'derive', part: 'items', unit: 'tables' });
  const tables = await new Staging(place, metadata, staging).guard((own) => stageApplied(own, applied));
  staging.done();
  const next = new NextLake(found.before, tables);
  const deriving = openStep(io, {
    step: 'derive',
    part: 'tables',
    unit: 'tables',
    totalRows: BigInt(found.derived.length),
  });
  const derived = await next.guard(async () => {
    const asking = await chooseQuestions(world, describeNext(applied, next));
    const own = new Staging(place, metadata, deriving);
    const staged = own.guard(() => stageDerived(world, own, next, applied, workFolder));
    await settleAll([staged, ...asking.map((ask) => ask())]);
    return staged;
  });
  deriving.done();
  return { next: next.with(...derived), attributions, applied, settled };
}

/** Lets each comparison module choose its requests. Returns functions that send the requests. */
async function chooseQuestions({ watches }: World, next: NextVersion): Promise<(() => Promise<void>)[]> {
  const asking: (() => Promise<void>)[] = [];
  // Modules run one after the other, because each may read all items.
  for (const { ask } of watches) if (ask !== undefined) asking.push(await ask(next));
  return asking;
}

export function describeNext(
  { landed, names, skew, datasetPattern, describedSample }: AppliedRun,
  next: NextLake,
): NextVersion {
  return {
    rows: (table) => next.rows(table),
    plan: landed.plan,
    readable: names.readable,
    cursor: landed.window.to,
    lowWatermark: landed.lowWatermark?.changedAt ?? null,
    ...{ skew, datasetPattern, alreadyRead: describedSample },
  };
}

async function stageDerived(
  { derivers }: World,
  staging: Staging,
  next: NextLake,
  { merge, sources: { flipped }, moment }: AppliedRun,
  workFolder: string,
): Promise<StagedTable[]> {
  const staged: StagedTable[] = [];
  // Modules run one after the other, because each may use much memory, and may read the tables of earlier modules.
  for (const { derive } of derivers)
    staged.push(...(await derive(staging, next.with(...staged), { merge, flipped, moment, workFolder })));
  return staged;
}

async function stageApplied(staging: Staging, applied: AppliedRun): Promise<StagedTable[]> {
  const { landed, datasets, merge, history, stale, sites, sources, rejects, ahead } = applied;
  const { tables } = staging.found;
  const cursor = landed.window.to;
  const noted = { cursor, polledAt: readPolled(landed), datasets: noteDatasets(tables, landed, datasets) };
  const known = sites.changed === undefined ? KEEP : replaceAll(tables.sites, sites.changed);
  const staged = await settleAll([
    staging.stage('items', merge.change, noted),
    staging.stage('history', history, { cursor, ahead }),
    staging.stage('sites', known),
    staging.stage('sources', sources.changed === undefined ? KEEP : replaceAll(tables.sources, sources.changed)),
    staging.stage('datasets', replaceAll(tables.datasets, selectDatasets(staging, landed.selection, datasets))),
    staging.stage('rejects', append(rejects)),
  ]);
  if (stale.rows === undefined) return staged;
  const { leaving } = stale;
  return [...staged, await staging.stage('stale_items', { ...replaceAll(tables.stale_items, stale.rows), leaving })];
}

/** Returns the time up to which the run polled changed items, in µs, or 0 if it read the whole feed instead. */
function readPolled({ feed, lowWatermark }: LandedInput): bigint {
  if (feed?.complete === true || lowWatermark?.changedAt === undefined) return 0n;
  return BigInt(Date.parse(lowWatermark.changedAt)) * 1000n;
}

/** Returns the listed datasets or, if the pipeline lists none, the readable datasets that a run copied completely. */
function noteDatasets(
  tables: Tables,
  { mode, added, selection }: LandedInput,
  { datasets }: LandedDatasets,
): CopiedDatasets {
  if (selection !== 'all') return { isList: true, ids: selection };
  const visible = datasets.map(({ id }) => id);
  const before = tables.items.applied.datasets.ids;
  // A lake that hasn't recorded its datasets yet contains all readable datasets.
  const isWhole = mode === 'snapshot' || before.length === 0;
  return { isList: false, ids: visible.filter((id) => isWhole || added.includes(id) || before.includes(id)) };
}

function selectDatasets({ graph, runId }: Staging, selection: DatasetSelection, { datasets, readAt }: LandedDatasets) {
  const copied = datasets.filter(({ id }) => selection === 'all' || selection.includes(id));
  const rows = copied.map((dataset) => ({
    dataset_id: dataset.id,
    name: dataset.name,
    description: dataset.description,
    items: dataset.items,
    sites: dataset.sites,
    models: dataset.models,
    healthy_models: dataset.healthyModels,
    newest_scrape_at: dataset.newestScrapeAt,
    oldest_scrape_at: dataset.oldestScrapeAt,
    read_at: readAt,
    run_id: runId,
  }));
  return sql`SELECT ${columnsOf('datasets')} FROM ${graph.load('datasets', 'datasets', rows)}`;
}
