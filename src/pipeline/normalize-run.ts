import path from 'node:path';
import type { Database } from '../duckdb/connection.js';
import { TXN_CURSOR } from '../model.js';
import {
  createItemViews,
  createNewChanges,
  createPendingChanges,
  selectRejects,
  type Tally,
} from '../normalize/batch.js';
import { createGround, findNeeds, type Ground, type ItemsFile, type Merge, mergeItems } from '../normalize/merge.js';
import { selectSites } from '../normalize/sites.js';
import type { TypedFile } from '../normalize/type-file.js';
import { type Extract, hydrateRun } from './extract-run.js';
import type { RowTally } from './ledger.js';
import { isCommitted, type Run } from './run.js';

/** Typed tables of a run, ready to stage: SQL over temporary views of the run's database. */
export interface Batch {
  merge: Merge;
  /** Undefined when no website is new or different. */
  sites: string | undefined;
  /** Undefined when nothing was rejected. */
  rejects: string | undefined;
  tally: RowTally;
}

/** Types what landed, reads whole what the changes told too little of, and applies both to the items so far. */
export async function normalizeRun(run: Run, extract: Extract): Promise<Batch> {
  const { db, typer, io } = run;
  const changeFiles: TypedFile[] =
    extract.feed.changes === 0
      ? []
      : [await typer.typeChanges({ path: extract.feed.file, rows: extract.feed.changes })];
  const changes = await createNewChanges(db, changeFiles, extract.feedFrom);
  await createPendingChanges(db, extract.applyFrom, isHistoryAhead(run));
  const ground = chooseGround(run, extract);
  await createItemViews(db, await typer.finish());
  await createGround(db, ground, 'unknown');
  await hydrateRun(run, () => findNeeds(db));
  const itemFiles = await typer.finish();
  const items = await createItemViews(db, itemFiles);
  await db.run('SET VARIABLE read_at = $1', [io.now().toISOString()]);
  const sites = await selectSites(db, extract.applyFrom);
  await createGround(db, ground, 'known');
  const merge = await mergeItems(db, ground);
  const typedRows = [...itemFiles, ...changeFiles].reduce((sum, file) => sum + BigInt(file.rows), 0n);
  const good = items.exported.typed + items.reread.typed + changes.typed;
  const itemsWritten = await countWritten(db, items, ground);
  const written = itemsWritten + changes.typed - changes.repeated;
  return {
    merge,
    sites,
    rejects: selectRejects(itemFiles, changeFiles, io.now().toISOString()),
    tally: { received: countReceived(run), written, rejected: typedRows - good, deduplicated: good - written },
  };
}

/** Whole rows that stand in the table: a reread takes the place of the item's exported row. */
async function countWritten(db: Database, { exported, reread }: Record<'exported' | 'reread', Tally>, ground: Ground) {
  const rereads = reread.typed - reread.repeated;
  if (ground.kind === 'lake') return rereads;
  const replaced = await db.row('SELECT count(*) AS n FROM exported_items SEMI JOIN reread_items USING (item_id)');
  return exported.typed - exported.repeated - (replaced?.n as bigint) + rereads;
}

/** A crash, with the landing lost, can leave history ahead of items: then its changes are applied from there. */
function isHistoryAhead(run: Run): boolean {
  const history = run.tables.history.txn[TXN_CURSOR];
  const items = run.tables.items.txn[TXN_CURSOR];
  return history !== undefined && history !== items;
}

function chooseGround(run: Run, extract: Extract): Ground {
  // A snapshot that an earlier try has committed is part of the lake.
  if (extract.snapshot !== undefined && !isCommitted(run, 'items')) return { kind: 'snapshot' };
  const root = path.join(run.lake.root, 'items');
  const files: ItemsFile[] = run.tables.items.files.map((file) => ({
    ...file,
    absolutePath: path.join(root, file.path),
  }));
  return { kind: 'lake', files };
}

/** Counted as the bytes landed, not from the tables: the row equation compares the two. */
function countReceived({ landing: { journal } }: Run): bigint {
  const exported = journal.last('export.done')?.landed ?? 0n;
  const pages = [...journal.all('feed.page'), ...journal.all('hydrate.page')];
  return exported + pages.reduce((sum, page) => sum + BigInt(page.rows), 0n);
}
