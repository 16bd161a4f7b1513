import type { Pipeline } from '../../config/pipeline.js';
import { PricelakeError } from '../../io/errors.js';
import { describeAttributions, readAttributions } from '../../lake/attribution.js';
import { commitTable } from '../../lake/commit.js';
import { readTable } from '../../lake/read.js';
import { type Stage, stageTable } from '../../lake/stage.js';
import { createTableView } from '../../lake/views.js';
import { quoteLiteral } from '../../sql/quote.js';
import { columnsOf } from '../../sql/sql.js';
import { type Applied, DECLARED_TABLES, type FileChange, type TableName } from '../../tables/table.js';
import type { OldTables } from './old-tables.js';
import type { LedgerRun, Rebuild, RebuildPlan } from './plan-rebuild.js';

/** Copies rows of runs that aren't replayed: history, rejects, closed days, and websites known before the replay. */
export async function seedTables(rebuild: Rebuild): Promise<void> {
  const { plan } = rebuild;
  const [start] = plan.runs;
  if (plan.isWhole || start === undefined) return;
  const { begin } = start.state;
  const older = `run_id NOT IN (${listRunIds(plan.runs)})`;
  // Also copies the differences that the first replayed run found. They can't be computed again, because that run
  // compared its rows with items that the rebuilt lake doesn't contain.
  const compared = `(run_id = ${quoteLiteral(start.runId)} AND origin = 'diff')`;
  const cursor = begin.cursorFrom ?? undefined;
  const select = (table: TableName, where: string) => `SELECT ${columnsOf(table).text} FROM ${table} WHERE ${where}`;
  await keepRows(rebuild, 'history', select('history', `${older} OR ${compared}`), { cursor });
  await markAhead(rebuild, cursor ?? 0n);
  await keepRows(rebuild, 'sites', selectSitesAt(begin.at));
  await keepRows(rebuild, 'rejects', select('rejects', older));
  // Also copies days that the first replayed run computed again, because their values depend on earlier items.
  const days = `SELECT max(day) FROM price_spread_daily WHERE ${older}`;
  const redone = `(run_id = ${quoteLiteral(start.runId)} AND day <= (${days}))`;
  await keepDays(rebuild, select('price_spread_daily', `${older} OR ${redone}`));
}

/** Copies the tables that hold pipeline settings from the old lake, because a rebuild has no pipeline file. */
export async function seedDeclared(rebuild: Rebuild): Promise<void> {
  for (const table of DECLARED_TABLES) {
    const declared = rebuild.old.readApplied(table)?.declared;
    if (declared === undefined) continue;
    await keepRows(rebuild, table, `SELECT ${columnsOf(table).text} FROM ${table}`, { declared });
  }
}

/** Copies the closed days of runs that aren't replayed. The replay computes later days. */
async function keepDays(rebuild: Rebuild, select: string): Promise<void> {
  const { old } = rebuild;
  if (!keepsDays(old) || (await old.open('price_spread_daily')) === 'nothing') return;
  const row = await old.db.row(`SELECT epoch(max(day))::BIGINT // 86400 AS day FROM (${select})`);
  const day = (row?.day as bigint | null) ?? 0n;
  const { firstDay } = old.readApplied('price_spread_daily') ?? {};
  await keepRows(rebuild, 'price_spread_daily', select, day === 0n ? {} : { day, firstDay });
}

/** Records the newest change id in the copied history, so that changes beyond the cursor aren't added again. */
async function markAhead(rebuild: Rebuild, cursor: bigint): Promise<void> {
  const { rebuilt } = rebuild;
  const { db } = rebuild.old;
  await createTableView(db, rebuilt, 'history', 'rebuilt_history');
  const newest = await db.row("SELECT max(change_id) AS id FROM rebuilt_history WHERE origin IN ('feed', 'webhook')");
  const ahead = (newest?.id as bigint | null) ?? 0n;
  if (ahead > cursor) await commitKept(rebuild, { table: 'history', applied: { ahead } });
}

/** Copies items that were gone before the first replayed run. The raw data of the replayed runs doesn't have them. */
export async function keepGoneItems(rebuild: Rebuild): Promise<void> {
  const { old, rebuilt, plan } = rebuild;
  await createTableView(old.db, rebuilt, 'items', 'rebuilt_items');
  const later = listRunIds(plan.runs.slice(1));
  const where = `gone_at IS NOT NULL ${later === '' ? '' : `AND run_id NOT IN (${later})`}`;
  const select = `SELECT ${columnsOf('items').text} FROM items ANTI JOIN rebuilt_items USING (item_id) WHERE ${where}`;
  await keepRows(rebuild, 'items', select);
}

/** Reads the runs table, which shows missing runs. Returns undefined if it can't be read completely. */
export async function readLedgerRuns(old: OldTables): Promise<LedgerRun[] | undefined> {
  if ((await old.open('runs')) !== 'whole') return undefined;
  const rows =
    await old.db.rows(`SELECT run_number, run_id, written + rejected + coalesce(differences, 0) + coalesce(gone, 0) > 0 AS left_rows
    FROM runs ORDER BY run_number`);
  return rows.map((row) => ({
    runNumber: row.run_number as bigint,
    runId: String(row.run_id),
    left: row.left_rows === true,
  }));
}

function keepsDays(old: OldTables): boolean {
  const isDamaged = old.inspection.damaged.has('price_spread_daily');
  return isDamaged ? old.countRows('price_spread_daily') > 0n : (old.readApplied('price_spread_daily')?.day ?? 0n) > 0n;
}

/** Finds damaged tables whose rows the saved raw data can't restore. @returns a sentence for each of these tables */
export async function findLosses(old: OldTables, plan: RebuildPlan, { keepsDeclared }: Pipeline): Promise<string[]> {
  return [
    ...(plan.isWhole ? [] : await findLostRows(old, plan)),
    ...(keepsDeclared === true ? await findLostDeclared(old) : []),
  ];
}

async function findLostDeclared(old: OldTables): Promise<string[]> {
  const losses: string[] = [];
  for (const table of DECLARED_TABLES) {
    if (!old.inspection.damaged.has(table) || (await old.open(table)) === 'whole') continue;
    losses.push(
      `${table}: settings from the pipeline file are lost, unless you pass that file to rebuild (${old.explain(table)})`,
    );
  }
  return losses;
}

async function findLostRows(old: OldTables, plan: RebuildPlan): Promise<string[]> {
  const tables: TableName[] = ['history', 'items', 'sites', 'rejects'];
  if (keepsDays(old)) tables.push('price_spread_daily');
  const losses: string[] = [];
  for (const table of tables) {
    const readable = await old.open(table);
    if (readable === 'whole') continue;
    const rows = old.countRows(table);
    const count = rows === 0n ? '' : `; the table had ${rows} rows`;
    const what = `rows from runs before ${plan.runs[0]?.runId} ${readable === 'rest' ? 'may be missing' : 'are lost'}`;
    losses.push(`${table}: ${what}${count} (${old.explain(table)})`);
  }
  return losses;
}

/** Selects the websites as they were at a time. Skips later rows. Rows that ended later become current. */
function selectSitesAt(moment: string): string {
  const at = `CAST(${quoteLiteral(moment)} AS TIMESTAMP WITH TIME ZONE)`;
  return `SELECT * REPLACE (CASE WHEN valid_to < ${at} THEN valid_to END AS valid_to,
      valid_to IS NULL OR valid_to >= ${at} AS is_current)
    FROM sites WHERE valid_from < ${at}`;
}

/** Throws if rows would be lost. @throws PricelakeError `lake_invalid` that describes these rows */
export function refuseLosses(losses: readonly string[]): void {
  if (losses.length === 0) return;
  const tables = losses.map((loss) => loss.split(':', 1)[0]).join(', ');
  throw new PricelakeError(
    'lake_invalid',
    `${tables} can't be read, and the saved raw data can't restore some of the rows: ${losses.join('; ')}`,
    {
      hint: '`pricelake verify` lists the damaged files; restore them from a backup, or continue without these rows with `pricelake lake rebuild --accept-loss`.',
      losses,
    },
  );
}

const listRunIds = (runs: RebuildPlan['runs']) => runs.map(({ runId }) => quoteLiteral(runId)).join(', ');

async function keepRows(
  rebuild: Rebuild,
  table: TableName,
  select: string,
  applied: Partial<Applied> = {},
): Promise<void> {
  const { old, rebuilt, plan } = rebuild;
  // Skips an unreadable table, because the user has accepted the loss of its rows.
  const isReadable = (await old.open(table)) !== 'nothing';
  const hasSites = (await old.open('sites')) !== 'nothing';
  const metadata = describeAttributions(hasSites ? await readAttributions(old.db, 'sites') : []);
  const { files, applied: standing } = await readTable(rebuilt, table);
  const layout = files[0] === undefined ? {} : { partitionBy: Object.keys(files[0].partitionValues) };
  const before = (plan.runs[0]?.runNumber ?? 1n) - 1n;
  const kept = { table, applied: { run: standing.run ?? before, ...applied } };
  await commitKept(rebuild, isReadable ? { ...kept, select, metadata, ...layout } : kept);
}

/** The rows of an old table to copy to the rebuilt lake, and the state that the new table's log records. */
interface KeptRows
  extends Pick<FileChange, 'table' | 'applied'>,
    Partial<Pick<Stage, 'select' | 'metadata' | 'partitionBy'>> {
  remove?: FileChange['remove'];
}

export async function commitKept(
  { old, rebuilt, io }: Rebuild,
  { table, applied, remove = [], select, ...stage }: KeptRows,
): Promise<void> {
  const add =
    select === undefined ? [] : await stageTable(old.db, rebuilt, { table, runId: 'rebuild', select, ...stage });
  const change = { table, add, remove, applied };
  await commitTable(rebuilt, change, { runId: 'rebuild', operation: 'KEEP', at: io.now() });
}
