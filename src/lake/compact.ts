import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import { PricelakeError } from '../errors.js';
import type { Io } from '../io.js';
import { type DataFile, TABLE_NAMES, type TableName, type TableState, TXN_ITEMS } from '../model.js';
import { loadTableSchema } from '../schemas.js';
import { tableRelation, toRelationFile } from '../table-relation.js';
import { describeAttributions, readAttributions } from './attribution.js';
import { commitTable } from './commit.js';
import { explainDiskFull } from './disk-full.js';
import { type Lake, tablePath } from './layout.js';
import { findOlderFiles } from './older-files.js';
import { isCompactionDue, planCompaction, planRewrite } from './plan-compaction.js';
import { refreshPointer } from './publish.js';
import { readTable } from './read.js';
import { stageTable } from './stage.js';

/** What a compaction did to a table. */
export interface Compaction {
  table: TableName;
  version: bigint;
  filesBefore: number;
  filesAfter: number;
  rows: bigint;
}

/** Names a compaction where files and commits name the run that wrote them. */
const RUN_ID = 'compact';

/**
 * Joins small files, a Delta commit of the same rows (`dataChange` false) a table; `due` leaves tables alone that have
 * no partition with many of them, `always` also writes files anew that are older than a column of their table. Call it under the lock: the rows are those of the version it starts from, or the
 * commit is refused. Needs the view `sites`.
 * @throws PricelakeError `lake_invalid` when the joined files hold another number of rows, `disk_full`.
 */
export async function compactLake(
  db: Database,
  lake: Lake,
  when: 'due' | 'always',
  io: Io,
  stop?: AbortSignal,
): Promise<Compaction[]> {
  const metadata = describeAttributions(await readAttributions(db, 'sites'));
  const done: Compaction[] = [];
  for (const table of TABLE_NAMES) {
    // What is done so far is committed, and lake.json follows with the next sync.
    stop?.throwIfAborted();
    const state = await readTable(lake, table);
    if (when === 'due' && !isCompactionDue(state.files)) continue;
    const passes = await planPasses(lake, state, when, io);
    if (passes.length === 0) continue;
    const compaction = await runPasses(db, lake, state, passes, metadata, io);
    io.log('info', 'lake.compacted', { ...compaction });
    done.push(compaction);
    if (table === 'items') await followItems(lake, state.version, compaction.version, io);
  }
  if (done.length > 0) await refreshPointer(lake);
  return done;
}

/** Files that are written anew together, one commit after the other. */
async function planPasses(lake: Lake, state: TableState, when: 'due' | 'always', io: Io): Promise<DataFile[][]> {
  const small = planCompaction(loadTableSchema(state.table), state.files, io.now());
  const older = when === 'always' ? [...(await findOlderFiles(lake, state)).keys()] : [];
  const joined = new Set(small);
  return [small, ...planRewrite(older.filter((file) => !joined.has(file)))].filter((pass) => pass.length > 0);
}

async function runPasses(
  db: Database,
  lake: Lake,
  state: TableState,
  passes: DataFile[][],
  metadata: Record<string, string>,
  io: Io,
): Promise<Compaction> {
  const done = { table: state.table, version: state.version, filesBefore: state.files.length };
  let [filesAfter, rows] = [done.filesBefore, 0n];
  for (const pass of passes) {
    const { version, added } = await writeAnew(db, lake, state.table, pass, metadata, io);
    done.version = version;
    filesAfter += added.length - pass.length;
    rows += countRows(added);
  }
  return { ...done, filesAfter, rows };
}

async function writeAnew(
  db: Database,
  lake: Lake,
  table: TableName,
  files: DataFile[],
  metadata: Record<string, string>,
  io: Io,
): Promise<{ version: bigint; added: DataFile[] }> {
  const partitionBy = Object.keys(files[0]?.partitionValues ?? {});
  const sources = files.map((file) => toRelationFile(file, tablePath(lake, table, file.path)));
  const { partitionBy: usual, key } = loadTableSchema(table);
  const order = [...usual, ...key].map(quoteIdentifier).join(', ');
  const select = `SELECT * FROM ${tableRelation(table, sources)} ORDER BY ${order}`;
  return explainDiskFull(lake.root, async () => {
    const added = await stageTable(db, lake, { table, runId: RUN_ID, select, partitionBy, metadata });
    refuseOtherRows(table, files, added);
    const change = { table, add: added, remove: files, txn: {}, dataChange: false };
    const version = await commitTable(lake, change, { runId: RUN_ID, operation: 'OPTIMIZE', at: io.now() });
    return { version, added };
  });
}

function refuseOtherRows(table: TableName, before: DataFile[], after: DataFile[]): void {
  if (countRows(before) === countRows(after)) return;
  throw new PricelakeError(
    'lake_invalid',
    `${table}: ${before.length} files hold ${countRows(after)} rows, their log says ${countRows(before)}`,
    { hint: 'Run `pricelake verify`; nothing was changed.' },
  );
}

function countRows(files: readonly DataFile[]): bigint {
  return files.reduce((sum, file) => sum + file.rows, 0n);
}

/** Derived tables name the version of items that they were made from; its rows are those of the new one. */
async function followItems(lake: Lake, before: bigint, after: bigint, io: Io): Promise<void> {
  for (const table of TABLE_NAMES) {
    const { txn } = await readTable(lake, table);
    if (txn[TXN_ITEMS] !== before) continue;
    const change = { table, add: [], remove: [], txn: { [TXN_ITEMS]: after } };
    await commitTable(lake, change, { runId: RUN_ID, operation: 'OPTIMIZE', at: io.now() });
  }
}
