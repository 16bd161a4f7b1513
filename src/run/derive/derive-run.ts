import { type OpenStep, openStep } from '../../io/io.js';
import { settleAll } from '../../io/side-by-side.js';
import type { Publishable } from '../../journal/run-state.js';
import { type Attribution, describeAttributions, readAttributions } from '../../lake/attribution.js';
import { append, KEEP, replaceAll } from '../../lake/table-change.js';
import type { LandedDatasets } from '../../source/datasets.js';
import type { ItemFile } from '../../source/item-files.js';
import { skipSample } from '../../source/sample.js';
import { quoteIdentifier } from '../../sql/quote.js';
import type { Relation } from '../../sql/relation.js';
import { columnsOf, sql } from '../../sql/sql.js';
import { type CopiedDatasets, DERIVED_TABLES } from '../../tables/table.js';
import { type AppliedRun, settleTally } from '../apply/apply-run.js';
import { settleServiceTime } from '../apply/service-time.js';

import { type AskedSample, askSample, chooseSample, landServiceProducts } from '../land/land-comparisons.js';
import type { LandedInput } from '../land/land-run.js';
import type { Run } from '../open/open-run.js';
import { listTold } from '../open/told-rows.js';
import { stageDays } from './days.js';
import { deriveTables } from './derive.js';
import { NextLake, type StagedTable, Staging } from './stage.js';

/** The next version of the lake's tables but for those that describe the run itself. */
export interface DerivedRun {
  /** The row equation stands: from now on the run may be published. */
  settled: Publishable;
  next: NextLake;
  attributions: Attribution[];
  /** A sample of the service's items, read meanwhile; undefined where none is compared. */
  sampled: AskedSample | undefined;
  /** Files of the service's own products; undefined where none are compared. */
  products: ItemFile[] | undefined;
}

/** Writes the next files of every table beside the lake. The service answers meanwhile. */
export async function deriveRun(run: Run, landed: LandedInput, applied: AppliedRun): Promise<DerivedRun> {
  const settled = await settleTally(run, applied.tally);
  const [staged, products] = await settleAll([stageTables(run, landed, applied), landServiceProducts(run, landed)]);
  return { ...staged, settled, products };
}

async function stageTables(
  run: Run,
  landed: LandedInput,
  applied: AppliedRun,
): Promise<Omit<DerivedRun, 'settled' | 'products'>> {
  const { rows: sites } = applied.sites;
  await sites.made;
  const attributions = await readAttributions(run.db, quoteIdentifier(sites.name));
  const metadata = describeAttributions(attributions);
  const staging = openStep(run.io, 'staging', { unit: 'tables' });
  const tables = await new Staging(run, metadata, staging).guard((own) => stageLanded(run, landed, applied, own));
  staging.done();
  const deriving = openStep(run.io, 'deriving', { unit: 'tables', totalRows: DERIVED });
  const next = new NextLake(run, tables);
  const { sampled, derived } = await next.guard(() => deriveBeside(run, landed, applied, next, { metadata, deriving }));
  deriving.done();
  return { next: next.with(...derived), attributions, sampled };
}

/** The derived tables, and the closed days. */
const DERIVED = BigInt(DERIVED_TABLES.length + 1);

/** Derives tables from those that are staged, and has a sample of items read meanwhile. */
async function deriveBeside(
  run: Run,
  landed: LandedInput,
  applied: AppliedRun,
  next: NextLake,
  { metadata, deriving }: { metadata: Record<string, string>; deriving: OpenStep },
) {
  // Chosen while tables are derived, the sample would take memory beside them.
  const chosen = await chooseRunSample(run, landed, await next.rows('items'), applied);
  const ask = async () => chosen && askSample(run, chosen).catch((error: unknown) => skipSample(error, run.io));
  const derive = () =>
    new Staging(run, metadata, deriving).guard(async (own) => {
      const derived = await deriveTables(run, applied.merge, applied.sources.flipped, { next, staging: own });
      const before = run.tables.items.version < 0n ? undefined : applied.merge.before;
      const seen = { history: await next.rows('history'), items: await next.rows('items') };
      const now = await settleServiceTime(run.graph, seen, applied.moment);
      return [...derived, await stageDays(run, now, before, { next, staging: own })];
    });
  const [sampled, derived] = await settleAll([ask(), derive()]);
  return { sampled, derived };
}

/** Another sample in each run, the same in each of its tries. Undefined where none is wanted. */
async function chooseRunSample(
  { graph, landing }: Run,
  { plan: { comparisons } }: LandedInput,
  items: Relation,
  { names, toldSample }: AppliedRun,
) {
  if (comparisons.sample === 0) return undefined;
  const sampled = { items, readable: names.readable, first: toldSample };
  return chooseSample(graph, sampled, comparisons.sample, landing.runId);
}

/** Stages the tables of what landed. */
async function stageLanded(
  run: Run,
  landed: LandedInput,
  applied: AppliedRun,
  staging: Staging,
): Promise<StagedTable[]> {
  const { datasets } = applied;
  const { tables } = run;
  const cursor = landed.window.to;
  const { merge, history, stale, sites, sources, rejects, ahead } = applied;
  const noted = { cursor, polledAt: readPolled(landed), datasets: noteDatasets(run, landed, datasets) };
  const known = sites.changed === undefined ? KEEP : replaceAll(tables.sites, sites.changed);
  const staged = await settleAll([
    staging.stage('items', merge.change, noted),
    staging.stage('history', history, { cursor, ahead }),
    staging.stage('sites', known),
    staging.stage('sources', sources.changed === undefined ? KEEP : replaceAll(tables.sources, sources.changed)),
    staging.stage('datasets', replaceAll(tables.datasets, selectDatasets(run, datasets))),
    staging.stage('rejects', append(rejects)),
  ]);
  const told = await stageTold(run, staging);
  if (stale.rows === undefined) return [...staged, ...told];
  return [...staged, ...told, await staging.stage('stale_items', replaceAll(tables.stale_items, stale.rows))];
}

/** Stages the tables whose rows the pipeline file says, where it says others than before. */
function stageTold(run: Run, staging: Staging): Promise<StagedTable[]> {
  return Promise.all(
    listTold(run).map(({ table, rows, told }) => {
      const made = rows.map((row) => ({ ...row, run_id: run.landing.runId }));
      const select = sql`SELECT ${columnsOf(table)} FROM ${run.graph.load(`told_${table}`, table, made)}`;
      return staging.stage(table, replaceAll(run.tables[table], select), { told });
    }),
  );
}

/** Up to when items were polled: the next run needs it where this one did not come to the feed's end. */
function readPolled({ feed, lowWatermark }: LandedInput): bigint {
  if (feed?.complete === true || lowWatermark?.changedAt === undefined) return 0n;
  return BigInt(Date.parse(lowWatermark.changedAt)) * 1000n;
}

/** The datasets that the items are a copy of by now: of those that can be read, the ones that were copied whole, now or before. */
function noteDatasets(
  { selection, tables }: Run,
  { mode, added }: LandedInput,
  { datasets }: LandedDatasets,
): CopiedDatasets {
  if (selection !== 'all') return { isList: true, ids: selection };
  const visible = datasets.map(({ id }) => id);
  const before = tables.items.applied.datasets.ids;
  // A lake that does not note them yet has a copy of all.
  const isWhole = mode === 'snapshot' || before.length === 0;
  return { isList: false, ids: visible.filter((id) => isWhole || added.includes(id) || before.includes(id)) };
}

function selectDatasets({ graph, selection, landing }: Run, { datasets, readAt }: LandedDatasets) {
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
    run_id: landing.runId,
  }));
  return sql`SELECT ${columnsOf('datasets')} FROM ${graph.load('datasets', 'datasets', rows)}`;
}

/** Stages the service's own products, where the pipeline asks for them. */
export async function stageServiceProducts(
  run: Run,
  rows: Relation | undefined,
  attributions: Attribution[],
): Promise<StagedTable[]> {
  const table = 'service_products';
  if (run.pipeline.source.products === 'none' || rows === undefined) return [];
  const change = replaceAll(run.tables[table], sql`SELECT ${columnsOf(table)} FROM ${rows}`);
  return [await new Staging(run, describeAttributions(attributions)).stage(table, change)];
}
