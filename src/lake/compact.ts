import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { runSideBySide } from '../io/side-by-side.js';
import type { Database } from '../sql/connection.js';
import { quoteIdentifier } from '../sql/quote.js';
import { tableRelation, toRelationFile } from '../sql/table-relation.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type DataFile, TABLE_NAMES, type TableName, type TableState } from '../tables/table.js';
import { type Attribution, describeAttributions, readAttributions } from './attribution.js';
import { commitTable } from './commit.js';
import { refuseDamagedFiles } from './damaged-file.js';
import { isEmptyFile, isSealed, readFooterFacts } from './data-file.js';
import { fillEmptyTables } from './fill-empty-tables.js';
import { requireFiles } from './partial.js';
import { isCompactionDue, planCompaction, planRewrite } from './plan-compaction.js';
import { refreshPointer } from './publish.js';
import { readTable } from './read.js';
import { countRows, TARGET_BYTES } from './slices.js';
import { type Stage, stageTable } from './stage.js';
import { relateTable } from './views.js';

export interface Compaction {
  table: TableName;
  version: bigint;
  filesBefore: number;
  filesAfter: number;
  rows: bigint;
}

/**
 * Selects the files to rewrite. `foreign` selects files written by other programs. `due` also selects small files in
 * tables that have many in one partition. `always` selects small files in all tables, and gives empty tables a file.
 */
export type CompactionNeed = 'foreign' | 'due' | 'always';

/** The run id that a compaction records in its files and commits. */
const RUN_ID = 'compact';
const CONCURRENCY = 16;

/**
 * Merges small files, and rewrites files written by other programs. The Delta commits change no rows. The caller must
 * hold the lock.
 * @throws PricelakeError `lake_invalid` if the new files have a different number of rows than the old ones
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
  const done: Compaction[] = [];
  for (const table of TABLE_NAMES) {
    // Stopping between tables is safe. Finished tables are committed, and the next sync updates lake.json.
    stop?.throwIfAborted();
    const state = await readTable(lake, table);
    const passes = await planPasses(lake, state, when, io, targetBytes);
    if (passes.length === 0) continue;
    const compaction = await rewriteFiles(db, lake, state, passes, { metadata: await readCredits(), targetBytes }, io);
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

/** Plans which files are rewritten together. Each group of files results in one commit. */
async function planPasses(
  lake: Lake,
  state: TableState,
  when: CompactionNeed,
  io: Io,
  targetBytes: number,
): Promise<DataFile[][]> {
  const isDue = when === 'always' || (when === 'due' && isCompactionDue(state.files, targetBytes));
  const small = isDue ? planCompaction(loadTableSchema(state.table), state.files, io.now(), targetBytes) : [];
  const joined = new Set(small.map(({ path }) => path));
  const foreign = (await findForeignFiles(lake, state)).filter((file) => !joined.has(file.path) && !isEmptyFile(file));
  return [small, ...planRewrite(foreign, targetBytes)].filter((pass) => pass.length > 0);
}

/** Finds the files that other programs wrote. The columns or types of such a file may differ from the table's. */
async function findForeignFiles(lake: Lake, { table, files }: TableState): Promise<DataFile[]> {
  const foreign = files.filter((file) => !isSealed(file));
  await requireFiles(lake, table, foreign);
  const found = await runSideBySide(CONCURRENCY, foreign, async (file) => {
    // Skips a file with a damaged footer instead of throwing. The next command that reads the file reports the damage.
    const footer = await readFooterFacts(tablePath(lake, table, file.path)).catch(() => undefined);
    // Takes the row count from the footer, because some programs don't write it to the log.
    return footer === undefined ? [] : [{ ...file, rows: footer.rows }];
  });
  return found.flat();
}

type FileForm = Pick<Stage, 'metadata' | 'targetBytes'>;

async function rewriteFiles(
  db: Database,
  lake: Lake,
  { table, version, files }: TableState,
  passes: DataFile[][],
  form: FileForm,
  io: Io,
): Promise<Compaction> {
  const done = { table, version, filesBefore: files.length, filesAfter: files.length, rows: 0n };
  const { partitionBy: usual, key } = loadTableSchema(table);
  const order = [...usual, ...key].map(quoteIdentifier).join(', ');
  for (const pass of passes) {
    await requireFiles(lake, table, pass);
    await refuseDamagedFiles(lake, table, pass);
    const partitionBy = Object.keys(pass[0]?.partitionValues ?? {});
    const sources = pass.map((file) => toRelationFile(file, tablePath(lake, table, file.path)));
    const select = `SELECT * FROM ${tableRelation(table, sources)} ORDER BY ${order}`;
    const add = await stageTable(db, lake, { table, runId: RUN_ID, select, partitionBy, ...form });
    refuseOtherRows(table, pass, add);
    const change = { table, add, remove: pass, applied: {}, dataChange: false };
    done.version = await commitTable(lake, change, { runId: RUN_ID, operation: 'OPTIMIZE', at: io.now() });
    done.filesAfter += add.length - pass.length;
    done.rows += countRows(add);
  }
  return done;
}

function refuseOtherRows(table: TableName, before: DataFile[], after: DataFile[]): void {
  if (countRows(before) === countRows(after)) return;
  throw new PricelakeError(
    'lake_invalid',
    `${table}: ${before.length} files have ${countRows(after)} rows, but the log records ${countRows(before)}`,
    { hint: 'Nothing was changed. Run `pricelake verify`.' },
  );
}

/** Records the compacted version of `items` in the derived tables. They stay up to date, because all rows are kept. */
async function followItems(
  lake: Lake,
  { before, after }: { before: bigint; after: bigint },
  info: { runId: string; at: Date },
): Promise<void> {
  for (const table of TABLE_NAMES) {
    const { applied } = await readTable(lake, table);
    if (applied.itemsVersion !== before) continue;
    const change = { table, add: [], remove: [], applied: { itemsVersion: after } };
    await commitTable(lake, change, { ...info, operation: 'OPTIMIZE' });
  }
}
