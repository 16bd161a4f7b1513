import { chooseRunSample, compareSample, type SampleComparison } from '../compare/compare-sample.js';
import type { Database } from '../duckdb/connection.js';
import type { LandedDatasets } from '../extract/datasets.js';
import { openStep } from '../io/report-step.js';
import { settleAll } from '../io/settle-all.js';
import { type Attribution, describeAttributions, readAttributions } from '../lake/attribution.js';
import { beginStage, type Stage, stageTable } from '../lake/stage.js';
import { createTableViews, FEW_ROWS } from '../lake/views.js';
import { selectColumns } from '../merge/batch.js';
import { chooseItemsLayout } from '../run/items-layout.js';
import type { Extract } from '../run/landed-run.js';
import { loadRows } from '../run/ledger.js';
import type { Run } from '../run/open-run.js';
import { NEWS_TABLES } from '../run/read-tables.js';
import type { Candidate, CopiedDatasets, StagedFile, TableName } from '../tables/table.js';
import type { Batch } from './normalize.js';
import { type Moment, settleServiceTime } from './service-time.js';
import { stageDaily } from './stage-daily.js';
import { type AddTable, prepareDerived, stageDerived } from './stage-derived.js';

export interface Staged {
  candidate: Candidate;
  attributions: Attribution[];
  /** What a sample of the service's items has shown meanwhile. */
  compared: SampleComparison;
}

/**
 * Writes the next files of every table beside the lake, and leaves views of the lake as it would be. In session `side`
 * it does what needs nothing of the rest.
 */
export async function stageRun(
  run: Run,
  side: Database,
  batch: Batch,
  datasets: LandedDatasets,
  extract: Extract,
): Promise<Staged> {
  const sealing: Sealing = [];
  const [made] = await Promise.allSettled([stageTables(run, side, batch, datasets, extract, sealing)]);
  // A file that can't be sealed is removed: statements that read it fail as a consequence.
  const sealed = new Map((await settleAll(sealing)).flat().map((file) => [file.stagedAt, file]));
  if (made.status === 'rejected') throw made.reason;
  const staged = made.value;
  for (const change of Object.values(staged.candidate)) {
    change.add = change.add.map((file) => sealed.get(file.stagedAt) ?? file);
  }
  return staged;
}

/** Files that are synced and checked while the tables after them are made. */
type Sealing = Promise<StagedFile[]>[];

async function stageTables(
  run: Run,
  side: Database,
  batch: Batch,
  datasets: LandedDatasets,
  extract: Extract,
  sealing: Sealing,
): Promise<Staged> {
  const { db } = run;
  const attributions = await readAttributions(db, 'next_sites');
  const metadata = describeAttributions(attributions);
  const candidate: Candidate = {};
  let step = openStep(run.io, 'staging');
  const layout = {
    ...chooseItemsLayout(run.pipeline, run.tables.items, batch.merge.replaced),
    ...{ sliceBy: 'site_id', inLanes: true },
  };
  const stage = async (session: Database, table: TableName, select: string, maxRows?: bigint) => {
    const more = table === 'items' ? { ...layout, maxRows } : { maxRows };
    const { files, sealed } = await beginStage(session, run.lake, describeStage(run, table, select, metadata, more));
    sealing.push(sealed);
    return files;
  };
  const addIn =
    (session: Database): AddTable =>
    async (table, select, remove, applied = {}, maxRows) => {
      if (run.standing[table] === 'committed') return;
      const files = select === undefined || maxRows === 0n ? [] : await stage(session, table, select, maxRows);
      run.io.log('debug', 'staged', { table, files: files.length });
      for (const { rows, bytes } of files) step.add(rows, bytes);
      const marks = { run: run.landing.runNumber, accepted: run.repairs[table] };
      candidate[table] = { table, add: files, remove, applied: { ...marks, ...applied } };
    };
  const add = addIn(db);
  const view = (session: Database, isWanted: (table: TableName) => boolean) =>
    createTableViews(session, run.lake, candidate, { readOnce: FEW_ROWS, tables: NEWS_TABLES.filter(isWanted) });
  const cursor = extract.window.to;
  const history = selectColumns('history');
  const { kept, replaced } = batch.history;
  const rows = `SELECT ${history} FROM new_changes UNION ALL SELECT ${history} FROM diff_changes`;
  const fromHistory = { cursor, ahead: batch.ahead };
  const items = { cursor, polledAt: readPolled(extract), datasets: noteDatasets(run, extract, datasets) };
  const addOthers = async () => {
    const events = kept === undefined ? rows : `${rows} UNION ALL ${kept}`;
    await add('history', events, replaced, fromHistory, countEvents(batch));
    if (batch.stale.select !== undefined) await add('stale_items', batch.stale.select, run.tables.stale_items.files);
    await add('sites', batch.sites, batch.sites === undefined ? [] : run.tables.sites.files);
    await addDatasets(run, datasets, add);
    await add('rejects', batch.rejects, []);
  };
  const addItems = () => addIn(side)('items', batch.merge.select, batch.merge.replaced, items, batch.merge.maxRows);
  const others = addOthers();
  const prepare = async () => {
    await others;
    await view(db, (table) => table !== 'items');
    return prepareDerived(run, batch);
  };
  // What is added beside may read the items as they were.
  const viewItems = async () => {
    await settleAll([addItems(), others]);
    await view(side, (table) => table === 'items');
  };
  const [changed] = await settleAll([prepare(), viewItems()]);
  step.done();
  step = openStep(run.io, 'deriving');
  const derive = async () => {
    const deriving = { ...run, db: side };
    await stageDerived(deriving, batch, changed, candidate, { add: addIn(side), addBeside: add, beside: db });
    if (await addDaily(deriving, candidate, batch.moment, (select) => stage(side, 'price_spread_daily', select)))
      await view(db, () => true);
  };
  // The service answers while the tables are made. Chosen meanwhile, the sample would take memory beside them.
  const readSample = await chooseRunSample(run, extract);
  const compare = async () => compareSample(run, await readSample());
  const [compared] = await settleAll([compare(), derive()]);
  step.done();
  return { candidate, attributions, compared };
}

/** Rows of history at most: an item that is new and removed has two. */
function countEvents({ newChanges, comparison, history }: Batch): bigint {
  const found = 2n * (comparison.differences + comparison.missed);
  return history.replaced.reduce((sum, { rows }) => sum + rows, newChanges + found);
}

/** What the items are a copy of by now: of the datasets that can be read, those that were copied whole, now or before. */
function noteDatasets(
  { selection, tables }: Run,
  { mode, added }: Extract,
  { datasets }: LandedDatasets,
): CopiedDatasets {
  if (selection !== 'all') return { isList: true, ids: selection };
  const visible = datasets.map(({ id }) => id);
  const before = tables.items.applied.datasets.ids;
  // A lake that does not note them yet has a copy of all.
  const isWhole = mode === 'snapshot' || before.length === 0;
  return { isList: false, ids: visible.filter((id) => isWhole || added.includes(id) || before.includes(id)) };
}

/** Stages the service's own products if the pipeline asks for them. Needs table `landed_service_products`. */
export async function stageServiceProducts(run: Run, { candidate, attributions }: Staged): Promise<void> {
  const table = 'service_products';
  if (run.pipeline.source.products === 'none' || run.standing[table] === 'committed') return;
  const select = `SELECT ${selectColumns(table)} FROM landed_service_products`;
  const metadata = describeAttributions(attributions);
  const add = await stageTable(run.db, run.lake, describeStage(run, table, select, metadata));
  candidate[table] = { table, add, remove: run.tables[table].files, applied: { run: run.landing.runNumber } };
}

/** Adds the closed days of price_spread_daily; false when the table stays as it is. */
async function addDaily(
  run: Run,
  candidate: Candidate,
  moment: Moment,
  stage: (select: string) => Promise<StagedFile[]>,
): Promise<boolean> {
  const table = 'price_spread_daily';
  if (run.standing[table] === 'committed') return false;
  const change = await stageDaily({
    db: run.db,
    lake: run.lake,
    table: run.tables[table],
    itemsBefore: run.tables.items.version < 0n ? undefined : 'items_before',
    now: await settleServiceTime(run.db, moment),
    days: run.pipeline.analysis.daily,
    stage,
  });
  if (change === undefined) return false;
  run.io.log('debug', 'staged', { table, files: change.add.length });
  candidate[table] = { table, ...change, applied: { ...change.applied, run: run.landing.runNumber } };
  return true;
}

/** Up to when items were polled: the next run needs it where this one did not come to the feed's end. */
function readPolled({ feed, lowWatermark }: Extract): bigint {
  if (feed?.complete === true || lowWatermark?.changedAt === undefined) return 0n;
  return BigInt(Date.parse(lowWatermark.changedAt)) * 1000n;
}

function describeStage(
  run: Run,
  table: TableName,
  select: string,
  metadata: Record<string, string>,
  more: Partial<Stage> = {},
): Stage {
  return {
    table,
    runId: run.landing.runId,
    select,
    metadata,
    targetBytes: run.pipeline.lake.targetFileSize,
    ...more,
  };
}

async function addDatasets(run: Run, { datasets, readAt }: LandedDatasets, add: AddTable): Promise<void> {
  const { selection } = run;
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
    run_id: run.landing.runId,
  }));
  await loadRows(run.db, 'next_datasets', 'datasets', rows);
  await add('datasets', `SELECT ${selectColumns('datasets')} FROM next_datasets`, run.tables.datasets.files);
}
