import path from 'node:path';
import { compareListingStates, type DatasetNames } from '../compare/compare-listing.js';
import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import type { LandedDatasets } from '../extract/datasets.js';
import { sumLanded } from '../journal/run-state.js';
import { createTableViews, FEW_ROWS, isSmall } from '../lake/views.js';
import { createItemViews, createRereads, type Tally } from '../merge/batch.js';
import { createNewChanges, createPendingChanges, findAhead } from '../merge/changes.js';
import { type Comparison, compareItems } from '../merge/compare-rows.js';
import {
  judgeReads,
  listStaleReads,
  measureFeedSkew,
  type StaleItems,
  selectStaleItems,
} from '../merge/judge-reads.js';
import { findNeeds, type Merge, mergeItems } from '../merge/merge.js';
import { createMergeBase, type ItemsFile, type MergeBase } from '../merge/merge-base.js';
import { countUnnamed, createRejectedItems, createRejectedRows, selectRejects } from '../merge/rejects.js';
import { createRenamedDatasets, type DatasetName, findRenamedDatasets } from '../merge/renamed-datasets.js';
import { selectSites } from '../merge/sites.js';
import { type SupersededDiffs, supersedeDiffs } from '../merge/supersede-diffs.js';
import { hasTooManySites } from '../run/items-layout.js';
import type { Extract } from '../run/landed-run.js';
import type { RowTally } from '../run/ledger.js';
import type { Run } from '../run/open-run.js';
import { NEWS_TABLES } from '../run/read-tables.js';
import { loadTableSchema } from '../tables/schemas.js';
import { setDatasetNames } from '../typing/dataset-names.js';
import type { ItemValue } from '../typing/item-names.js';
import type { TypedFile } from '../typing/type-file.js';
import { hydrateRun, rereadStale } from './extract.js';
import { fixMoment, type Moment } from './service-time.js';

/** Typed tables of a run, ready to stage: SQL over views of the run's database. */
export interface Batch {
  merge: Merge;
  comparison: Comparison;
  /** Changes that history does not hold yet. */
  newChanges: bigint;
  /** Newest change that is in history ahead of the cursor; 0 when there is none. */
  ahead: bigint;
  /** Items that the next run reads again. */
  stale: StaleItems;
  /** Changes and rows of items that nothing names: whether these are listed is not known. */
  unnamed: bigint;
  /** Rows of history that give way to changes of this run. */
  history: SupersededDiffs;
  /** Undefined when no website is new or different. */
  sites: string | undefined;
  /** Undefined when nothing was rejected. */
  rejects: string | undefined;
  tally: RowTally;
  moment: Moment;
}

/** Of the lake before the run, few statements read the items: a larger table is quicker left in its files. */
const FEW_ROWS_BEFORE = 5_000n;

/** Begins to read the items as they were: view `items`. Of a small lake they are in a table before all has landed. */
export async function readItemsBefore(run: Run, session: Database): Promise<void> {
  if (isSmallRun(run)) await run.db.run('SET threads = 1');
  const readOnce = isSmallRun(run) ? FEW_ROWS : FEW_ROWS_BEFORE;
  await createTableViews(session, run.lake, {}, { readOnce, tables: ['items'] });
}

/** Types what landed, reads whole the items about which the changes say too little, and applies both to the items so far. */
export async function normalizeRun(
  run: Run,
  extract: Extract,
  { datasets }: LandedDatasets,
  itemsBefore: Promise<void>,
): Promise<Batch> {
  const { db, typing } = run;
  const others = NEWS_TABLES.filter((table) => table !== 'items');
  await createTableViews(db, run.lake, {}, { readOnce: FEW_ROWS_BEFORE, tables: others });
  const changeFiles = await typeChanges(run, extract);
  const { feed, window } = extract;
  const { applyFrom, watermark } = window;
  // All statements from here on may read view `items`, which another session makes.
  await itemsBefore;
  const changes = await createNewChanges(db, changeFiles, window, { isSelected: run.selection !== 'all' });
  await createPendingChanges(db, window);
  const known = await readKnownDatasets(db);
  const names = await nameDatasets(run, datasets, known);
  const renamedDatasets = findRenamedDatasets(known, datasets);
  await createRenamedDatasets(db, renamedDatasets);
  const base = chooseMergeBase(run, extract);
  const unlisted = await compareListingStates(run, extract, names);
  const typed = await typing.finish();
  const absent = base.kind === 'reload' ? await findAbsent(run) : [];
  const whole = await createItemViews(db, typed, absent);
  const lacksChanges = run.tables.rejects.files.length > 0 || changeFiles.some(({ rejected }) => rejected > 0);
  if (watermark !== undefined && whole.exported.typed + whole.reread.typed > 0n)
    await measureFeedSkew(db, { lacksChanges });
  const typedWhole = typed.reduce((sum, file) => sum + BigInt(file.rows), 0n);
  const moment = await fixMoment(run);
  const { at } = moment;
  await db.run('SET VARIABLE read_at = $1', [at]);
  const comparison = await compareItems(db, base, {
    withFeed: feed !== undefined,
    datasets: names.readable,
    added: extract.added.flatMap((id) => names.byId.get(id) ?? []),
    unlisted,
    isReadWhole: typedWhole === whole.exported.typed,
  });
  // What another program did to items is no change of them.
  if (Object.keys(run.repairs).length > 0) await db.run('DELETE FROM diff_changes');
  if (comparison.unreadable > 0n) run.io.log('warn', 'copy.datasets_locked', { kept: comparison.unreadable });
  await createRejectedRows(db, [...typed, ...changeFiles]);
  await createRejectedItems(db);
  await createMergeBase(db, base, 'unknown');
  const unnamed = await countUnnamed(db);
  const { itemFiles, items } = await readNeeded(run, extract, typed, whole, changeFiles, lacksChanges);
  const stale = await selectStaleItems(db);
  if (stale.count > 0n) run.io.log('warn', 'items.stale', { items: stale.count });
  const { select: sites, renamed } = await selectSites(db, watermark ?? applyFrom);
  if (renamed > 0n || renamedDatasets.length > 0) await createMergeBase(db, base, 'known');
  const merge = await mergeItems(db, base, comparison);
  const typedRows = [...itemFiles, ...changeFiles].reduce((sum, file) => sum + BigInt(file.rows), 0n);
  const good = items.exported.typed + items.reread.typed + changes.typed;
  const itemsWritten = await countWritten(db, items.exported, base);
  const written = itemsWritten + changes.typed - changes.repeated;
  return {
    merge,
    comparison,
    newChanges: changes.typed - changes.repeated,
    ahead: await findAhead(db, window),
    stale,
    unnamed,
    history: await supersedeDiffs(db, run.lake.root, run.tables.history),
    sites,
    rejects: typedRows === good ? undefined : selectRejects([...itemFiles, ...changeFiles], at),
    // Counted as the bytes landed, not from the tables: the row equation compares the two.
    tally: {
      received: sumLanded(run.landing.journal.state).rows,
      written,
      rejected: typedRows - good,
      deduplicated: good - written,
    },
    moment,
  };
}

/**
 * True for few changes to a small lake. Its statements are no faster on several threads, and a tenth of the run's CPU
 * time is threads that wait for each other.
 */
function isSmallRun({ tables, landing }: Run): boolean {
  const { rows } = sumLanded(landing.journal.state);
  return tables.items.files.length > 0 && isSmall(tables.items.files) && rows <= FEW_ROWS;
}

/** Items read whole, exported ones and rereads. */
type WholeItems = Awaited<ReturnType<typeof createItemViews>>;

/** Reads whole what the changes told too little of, and judges the reads: what they don't show yet is read once more. */
async function readNeeded(
  run: Run,
  extract: Extract,
  typed: TypedFile[],
  whole: WholeItems,
  changeFiles: readonly TypedFile[],
  lacksChanges: boolean,
) {
  const { db, typing } = run;
  await hydrateRun(run, extract.planned, await findNeeds(db));
  let itemFiles = await typing.finish();
  const viewReads = async () => {
    await createRejectedRows(db, [...itemFiles, ...changeFiles]);
    return { ...whole, reread: await createRereads(db, itemFiles) };
  };
  let items = itemFiles.length === typed.length ? whole : await viewReads();
  if (items.reread.typed > 0n) await measureFeedSkew(db, { lacksChanges });
  await judgeReads(db);
  if (await rereadStale(run, extract.planned, await listStaleReads(db))) {
    itemFiles = await typing.finish();
    items = await viewReads();
    await judgeReads(db);
  }
  return { itemFiles, items };
}

/** So many values of a field are not gone at once because a service leaves out what is null. */
const KEPT_VALUES = 20n;

/** Fields that no export row has, though the lake has many values in them: these are kept. */
async function findAbsent({ db, typing, io }: Run): Promise<ItemValue[]> {
  // Whether an item is listed is never kept: that no row has a removal time may just be so.
  const names = typing.listAbsent().filter((name) => name !== 'removed_at');
  const absent: ItemValue[] = [];
  for (const name of names) {
    if (!loadTableSchema('items').columns.some((column) => column.name === name)) continue;
    const row = await db.row(`SELECT count(${quoteIdentifier(name)}) AS n FROM items`);
    if ((row?.n as bigint) >= KEPT_VALUES) absent.push(name);
  }
  if (absent.length > 0) io.log('warn', 'export.fields_missing', { kept: absent.join(', ') });
  return absent;
}

async function typeChanges({ typing }: Run, { feed, events, backfill }: Extract): Promise<TypedFile[]> {
  const files: TypedFile[] = [];
  if (feed !== undefined && feed.changes > 0) {
    files.push(await typing.typeChanges({ path: feed.file, rows: feed.changes, origin: 'feed' }));
  }
  if (events.changes > 0) {
    files.push(await typing.typeChanges({ path: events.file, rows: events.changes, origin: 'webhook' }));
  }
  if (backfill.changes > 0) {
    files.push(await typing.typeChanges({ path: backfill.file, rows: backfill.changes, origin: 'history' }));
  }
  return files;
}

/** Whole rows that are in the table: a reread takes the place of the item's exported row. */
async function countWritten(db: Database, exported: Tally, base: MergeBase): Promise<bigint> {
  const taken = await db.row('SELECT count(*) AS n FROM taken_reads');
  const rereads = taken?.n as bigint;
  if (base.kind === 'lake') return rereads;
  const rows = base.kind === 'first' ? 'exported_items' : 'different_items';
  const count =
    await db.row(`SELECT count(*) AS n, (SELECT count(*) FROM ${rows} SEMI JOIN taken_reads USING (item_id)) AS replaced
    FROM ${rows}`);
  const whole = base.kind === 'first' ? exported.typed - exported.repeated : (count?.n as bigint);
  return whole - (count?.replaced as bigint) + rereads;
}

function chooseMergeBase(run: Run, { mode, lowWatermark }: Extract): MergeBase {
  const { files, hasOlderFiles, version } = run.tables.items;
  const root = path.join(run.lake.root, 'items');
  const lake = {
    files: files.map((file): ItemsFile => ({ ...file, absolutePath: path.join(root, file.path) })),
    hasOlderFiles,
    isKept: run.db.keptRows('items') !== undefined,
  };
  // Whole rows that an earlier try has committed are part of the lake.
  if (lowWatermark === undefined || run.standing.items === 'committed') return { kind: 'lake', ...lake };
  if (version < 0n) return { kind: 'first' };
  if (mode !== 'snapshot') return { kind: 'poll', ...lake };
  return { kind: 'reload', ...lake, isRewritten: hasTooManySites(run.pipeline, run.tables.items) };
}

/** Datasets as the last run has noted them. */
async function readKnownDatasets(db: Database): Promise<DatasetName[]> {
  return (await db.rows('SELECT dataset_id AS id, name FROM datasets')) as { id: bigint; name: string }[];
}

/** By their names, as items give them: datasets that can be read. Rows of the lake may give one its former name. */
async function nameDatasets(
  { db, selection }: Run,
  visible: readonly DatasetName[],
  known: readonly DatasetName[],
): Promise<DatasetNames> {
  await setDatasetNames(
    db,
    [...visible, ...known].map(({ name }) => name),
  );
  const byId = new Map<bigint, string[]>();
  for (const { id, name } of visible) {
    const before = known.filter((one) => one.id === id).map((one) => one.name);
    byId.set(id, [...new Set([name, ...before])]);
  }
  // All datasets of the list are readable: whatever an item was in beside, it is in none of them any more.
  const isWhole = selection !== 'all' && selection.every((id) => byId.has(id));
  return { readable: isWhole ? undefined : [...byId.values()].flat(), byId };
}
