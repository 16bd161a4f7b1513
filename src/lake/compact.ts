import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type DataFile, TABLE_NAMES, type TableName, type TableState } from '../tables/table.js';
import { tableRelation, toRelationFile } from '../tables/table-relation.js';
import { type Attribution, describeAttributions, readAttributions } from './attribution.js';
import { commitTable } from './commit.js';
import { isEmptyFile } from './empty-file.js';
import { fillEmptyTables } from './fill-empty-tables.js';
import { type Compaction, flattenTables, sortMisplaced } from './flatten.js';
import { followItems } from './follow-items.js';
import { type Lake, tablePath } from './layout.js';
import { findOlderFiles } from './older-files.js';
import { requireFiles } from './partial.js';
import { isCompactionDue, planCompaction, planRewrite, TARGET_BYTES } from './plan-compaction.js';
import { refreshPointer } from './publish.js';
import { readTable } from './read.js';
import { type Stage, stageTable } from './stage.js';
import { explainSystemFault } from './system-fault.js';
import { relateTable } from './views.js';

export type { Compaction } from './flatten.js';

/**
 * `misplaced`: files come out of folders, and those of other programs are rewritten. `due`: small files are joined where a partition has many. `always`:
 * both, small files are joined wherever there are two, files that are older than a column of their table get it, and
 * tables without rows get a file.
 */
export type CompactionNeed = 'misplaced' | 'due' | 'always';

/** Names a compaction where files and commits name the run that wrote them. */
const RUN_ID = 'compact';

/**
 * Rewrites files, Delta commits of the same rows (`dataChange` false). Call it under the lock: the rows are those of
 * the version it starts from, or the commit is refused.
 * @throws PricelakeError `lake_invalid` when the joined files hold another number of rows, `disk_full`.
 */
export async function compactLake(
  db: Database,
  lake: Lake,
  when: CompactionNeed,
  io: Io,
  { stop, targetBytes = TARGET_BYTES }: { stop?: AbortSignal | undefined; targetBytes?: number | undefined } = {},
): Promise<Compaction[]> {
  let credits: Promise<Attribution[]> | undefined;
  const readCredits = async () => {
    credits ??= relateTable(db, lake, 'sites').then((sites) => readAttributions(db, sites));
    return describeAttributions(await credits);
  };
  const done = when === 'due' ? [] : await flattenTables(lake, await readTables(lake), io);
  for (const table of TABLE_NAMES) {
    // What is done so far is committed, and lake.json follows with the next sync.
    stop?.throwIfAborted();
    const state = await readTable(lake, table);
    const passes = await planPasses(lake, state, when, io, targetBytes);
    if (passes.length === 0) continue;
    const compaction = await runPasses(db, lake, state, passes, { metadata: await readCredits(), targetBytes }, io);
    io.log('info', 'lake.compacted', { ...compaction });
    done.push(compaction);
    if (table === 'items') {
      const versions = { before: state.version, after: compaction.version };
      await followItems(lake, versions, { runId: RUN_ID, at: io.now() });
    }
  }
  const commit = { runId: RUN_ID, operation: 'OPTIMIZE', at: io.now() };
  const filled = when === 'always' ? await fillEmptyTables(db, lake, { commit, metadata: await readCredits() }) : [];
  if (done.length + filled.length > 0) await refreshPointer(lake);
  return done;
}

const readTables = (lake: Lake) => Promise.all(TABLE_NAMES.map((table) => readTable(lake, table)));

/** Files that are rewritten together, one commit after the other. */
async function planPasses(
  lake: Lake,
  state: TableState,
  when: CompactionNeed,
  io: Io,
  targetBytes: number,
): Promise<DataFile[][]> {
  const isDue = when === 'always' || (when === 'due' && isCompactionDue(state.files, targetBytes));
  const small = isDue ? planCompaction(loadTableSchema(state.table), state.files, io.now(), targetBytes) : [];
  const { foreign } = await sortMisplaced(lake, state);
  const older = when === 'always' ? (await findOlderFiles(lake, state)).keys() : [];
  const rewritten = [...new Map([...older, ...foreign].map((file) => [file.path, file])).values()];
  const joined = new Set([...small, ...state.files.filter(isEmptyFile)].map(({ path }) => path));
  return [
    small,
    ...planRewrite(
      rewritten.filter((file) => !joined.has(file.path)),
      targetBytes,
    ),
  ].filter((pass) => pass.length > 0);
}

/** How files are written. */
type FileForm = Pick<Stage, 'metadata' | 'targetBytes'>;

async function runPasses(
  db: Database,
  lake: Lake,
  state: TableState,
  passes: DataFile[][],
  form: FileForm,
  io: Io,
): Promise<Compaction> {
  const done = { table: state.table, version: state.version, filesBefore: state.files.length };
  let [filesAfter, rows] = [done.filesBefore, 0n];
  for (const pass of passes) {
    const { version, added } = await writeAnew(db, lake, state.table, pass, form, io);
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
  form: FileForm,
  io: Io,
): Promise<{ version: bigint; added: DataFile[] }> {
  await requireFiles(lake, table, files);
  const partitionBy = Object.keys(files[0]?.partitionValues ?? {});
  const sources = files.map((file) => toRelationFile(file, tablePath(lake, table, file.path)));
  const { partitionBy: usual, key } = loadTableSchema(table);
  const order = [...usual, ...key].map(quoteIdentifier).join(', ');
  const select = `SELECT * FROM ${tableRelation(table, sources)} ORDER BY ${order}`;
  return explainSystemFault(lake.root, async () => {
    const added = await stageTable(db, lake, { table, runId: RUN_ID, select, partitionBy, ...form });
    refuseOtherRows(table, files, added);
    const change = { table, add: added, remove: files, applied: {}, dataChange: false };
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
