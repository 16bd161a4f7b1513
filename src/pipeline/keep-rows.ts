import { quoteLiteral } from '../duckdb/quote.js';
import { PricelakeError } from '../errors.js';
import type { Io } from '../io.js';
import { describeAttributions, readAttributions } from '../lake/attribution.js';
import { commitTable } from '../lake/commit.js';
import { hashDataFile } from '../lake/data-file.js';
import type { Lake } from '../lake/lake.js';
import { ignoreMissing, tablePath } from '../lake/layout.js';
import { readTable } from '../lake/read.js';
import { stageTable } from '../lake/stage.js';
import { createTableView } from '../lake/views.js';
import { type TableName, TXN_CURSOR, TXN_DAY, TXN_FIRST_DAY, TXN_RUN, TXN_WEBHOOK } from '../model.js';
import { selectColumns } from '../normalize/batch.js';
import type { LockedLake } from './locked-lake.js';
import type { RebuildPlan, RunFacts } from './plan-rebuild.js';

/**
 * Rows that a rebuild keeps as they are, because the runs that made them are not done again: history, rejects and closed
 * days of older runs, and websites as they were then.
 */
export async function seedTables(locked: LockedLake, rebuilt: Lake, plan: RebuildPlan, io: Io): Promise<void> {
  const [start] = plan.runs;
  if (plan.isWhole || start === undefined) return;
  const begin = start.journal.last('begin');
  await prepareReplayed(locked, plan);
  const older = 'run_id NOT IN (FROM replayed_runs)';
  // What the first complete copy showed to be different was told by comparing it with a lake that is no more.
  const told = `(run_id = ${quoteLiteral(start.runId)} AND origin = 'diff')`;
  const cursor = begin?.cursorFrom ?? undefined;
  const select = (table: TableName, where: string) => `SELECT ${selectColumns(table)} FROM ${table} WHERE ${where}`;
  const txn = cursor === undefined ? {} : { [TXN_CURSOR]: cursor };
  await keepRows(locked, rebuilt, plan, io, 'history', select('history', `${older} OR ${told}`), txn);
  await markWebhooks(locked, rebuilt, cursor ?? 0n, io);
  await keepRows(locked, rebuilt, plan, io, 'sites', selectSitesAt(begin?.at ?? ''));
  await keepRows(locked, rebuilt, plan, io, 'rejects', select('rejects', older));
  // The complete copy had the items before it to compare with: days that it brought up to date stay as well.
  const days = `SELECT max(day) FROM price_spread_daily WHERE ${older}`;
  const redone = `(run_id = ${quoteLiteral(start.runId)} AND day <= (${days}))`;
  await keepDays(locked, rebuilt, plan, io, select('price_spread_daily', `${older} OR ${redone}`));
}

/** Closed days that older runs made; those that came since are made again. */
async function keepDays(locked: LockedLake, rebuilt: Lake, plan: RebuildPlan, io: Io, select: string): Promise<void> {
  const { txn } = await readTable(locked.lake, 'price_spread_daily');
  if ((txn[TXN_DAY] ?? 0n) === 0n) return;
  await refuseUnreadable(locked, 'price_spread_daily');
  const row = await locked.db.row(`SELECT epoch(max(day))::BIGINT // 86400 AS day FROM (${select})`);
  const day = (row?.day as bigint | null) ?? 0n;
  const reach = txn[TXN_FIRST_DAY] === undefined ? {} : { [TXN_FIRST_DAY]: txn[TXN_FIRST_DAY] };
  const marks = day === 0n ? {} : { [TXN_DAY]: day, ...reach };
  await keepRows(locked, rebuilt, plan, io, 'price_spread_daily', select, marks);
}

/** Changes that webhooks had brought ahead of the cursor stand in the kept history: the feed's are theirs again. */
async function markWebhooks({ db }: LockedLake, rebuilt: Lake, cursor: bigint, io: Io): Promise<void> {
  await createTableView(db, rebuilt, 'history', 'rebuilt_history');
  const newest = await db.row("SELECT max(change_id) AS id FROM rebuilt_history WHERE origin = 'webhook'");
  const ahead = (newest?.id as bigint | null) ?? 0n;
  if (ahead <= cursor) return;
  const change = { table: 'history' as const, add: [], remove: [], txn: { [TXN_WEBHOOK]: ahead } };
  await commitTable(rebuilt, change, { runId: 'rebuild', operation: 'KEEP', at: io.now() });
}

/** Items that a complete copy before or at the start of the rebuild lacked: no kept byte tells of them. */
export async function keepGoneItems(locked: LockedLake, rebuilt: Lake, plan: RebuildPlan, io: Io): Promise<void> {
  const { db } = locked;
  await createTableView(db, rebuilt, 'items', 'rebuilt_items');
  const later = plan.runs.slice(1).map(({ runId }) => quoteLiteral(runId));
  const where = `gone_at IS NOT NULL ${later.length === 0 ? '' : `AND run_id NOT IN (${later.join(', ')})`}`;
  const select = `SELECT ${selectColumns('items')} FROM items ANTI JOIN rebuilt_items USING (item_id) WHERE ${where}`;
  await keepRows(locked, rebuilt, plan, io, 'items', select);
}

/** Rows of the ledger, to tell what is missing; undefined when the table can't be read. */
export async function readRunFacts({ db, lake }: LockedLake): Promise<RunFacts[] | undefined> {
  if (!(await isReadable({ db, lake }, 'runs'))) return undefined;
  const rows =
    await db.rows(`SELECT run_number, run_id, written + rejected + coalesce(differences, 0) + coalesce(gone, 0) > 0 AS left_rows
    FROM runs ORDER BY run_number`);
  return rows.map((row) => ({
    runNumber: row.run_number as bigint,
    runId: String(row.run_id),
    left: row.left_rows === true,
  }));
}

/**
 * Makes the table's view, if each file of the table is as its writer left it; false when one is missing or damaged, or
 * when columns are of another type now.
 */
export async function isReadable({ db, lake }: Pick<LockedLake, 'db' | 'lake'>, table: TableName): Promise<boolean> {
  const { files, drift } = await readTable(lake, table);
  if (drift.retyped.length > 0) return false;
  for (const { path, sha256 } of files) {
    const found = await hashDataFile(tablePath(lake, table, path)).catch(ignoreMissing);
    if (found === undefined || (sha256 !== undefined && found !== sha256)) return false;
  }
  await createTableView(db, lake, table, table);
  return true;
}

/** Websites before the moment: rows that came later are not there yet, and those that ended later are current. */
function selectSitesAt(moment: string): string {
  const at = `CAST(${quoteLiteral(moment)} AS TIMESTAMP WITH TIME ZONE)`;
  return `SELECT * REPLACE (CASE WHEN valid_to < ${at} THEN valid_to END AS valid_to,
      valid_to IS NULL OR valid_to >= ${at} AS is_current)
    FROM sites WHERE valid_from < ${at}`;
}

async function refuseUnreadable(locked: LockedLake, table: TableName): Promise<void> {
  if (await isReadable(locked, table)) return;
  throw new PricelakeError('lake_invalid', `${table} can't be read, and holds rows that no kept raw bytes make anew`, {
    hint: '`pricelake verify` names the damaged files; restore them from a backup.',
  });
}

async function prepareReplayed({ db }: LockedLake, plan: RebuildPlan): Promise<void> {
  await db.run('CREATE OR REPLACE TEMP TABLE replayed_runs (run_id VARCHAR)');
  for (const { runId } of plan.runs) await db.run('INSERT INTO replayed_runs VALUES ($1)', [runId]);
}

async function keepRows(
  locked: LockedLake,
  rebuilt: Lake,
  plan: RebuildPlan,
  io: Io,
  table: TableName,
  select: string,
  txn: Record<string, bigint> = {},
): Promise<void> {
  const { db } = locked;
  await refuseUnreadable(locked, table);
  await refuseUnreadable(locked, 'sites');
  const metadata = describeAttributions(await readAttributions(db, 'sites'));
  const { files, txn: standing } = await readTable(rebuilt, table);
  const layout = files[0] === undefined ? {} : { partitionBy: Object.keys(files[0].partitionValues) };
  const add = await stageTable(db, rebuilt, { table, runId: 'rebuild', select, metadata, ...layout });
  const before = (plan.runs[0]?.runNumber ?? 1n) - 1n;
  const change = { table, add, remove: [], txn: { [TXN_RUN]: standing[TXN_RUN] ?? before, ...txn } };
  await commitTable(rebuilt, change, { runId: 'rebuild', operation: 'KEEP', at: io.now() });
}
