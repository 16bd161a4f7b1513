import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { commitTable } from '../../lake/commit.js';
import { findDamagedFile } from '../../lake/damaged-file.js';
import { readLog } from '../../lake/delta-log.js';
import { findForeignChanges, markAccepted } from '../../lake/foreign-changes.js';
import type { Inspection } from '../../lake/inspect-lake.js';
import { refreshPointer } from '../../lake/publish.js';
import { countRows } from '../../lake/slices.js';
import { type Lake, tablePath } from '../../tables/layout.js';
import type { DataFile, FileChange, TableState } from '../../tables/table.js';
import type { SwappedTable } from './replace-tables.js';

interface RestoredTables {
  tables: SwappedTable[];
  /** A sentence for each table whose missing files can't be restored. */
  lost: string[];
}

/** A table to restore. `files` is undefined if files of the newest run are missing. */
interface Restoration {
  state: TableState;
  files: DataFile[] | undefined;
  why: string;
}

/**
 * Restores the newest run's files in tables that another program has changed. A rebuild does this if raw data is
 * missing. If `acceptLoss` is true, a table with missing files stays as it is.
 * @returns undefined if the lake has any other damage
 * @throws PricelakeError `landing_gone`, before any change, if files are missing and `acceptLoss` is false
 */
export async function restoreTables(
  lake: Lake,
  inspection: Inspection,
  acceptLoss: boolean,
  io: Io,
): Promise<RestoredTables | undefined> {
  const changes = await findForeignChanges(lake, [...inspection.states.values()], inspection.pointer);
  const changed = new Set(changes.map(({ table }) => table));
  const isElse = inspection.pointerDamage !== undefined || [...inspection.damaged.keys()].some((t) => !changed.has(t));
  if (changes.length === 0 || isElse) return undefined;
  const planned: Restoration[] = [];
  for (const [table, state] of inspection.states) {
    if (changed.has(table)) planned.push(await planRestoration(lake, state, inspection));
  }
  const gone = planned.filter(({ files }) => files === undefined);
  if (gone.length > 0 && !acceptLoss) {
    throw new PricelakeError(
      'landing_gone',
      `neither the saved raw data nor the newest run's files can restore ${gone.map(({ state, why }) => `${state.table} (${why})`).join(', ')}`,
      {
        hint: 'Restore the lake from a backup, or keep these tables as the other program left them with `pricelake lake rebuild --accept-loss`.',
      },
    );
  }
  const accepted = markAccepted(changes);
  const tables: SwappedTable[] = [];
  for (const { state, files = state.files } of planned) {
    const change = planChange(lake, state, files, accepted[state.table] ?? state.version);
    // Commits the table. The commit point is inside `commitTable`.
    const version = await commitTable(lake, change, { runId: 'rebuild', operation: 'RESTORE', at: io.now() });
    tables.push({ table: state.table, version, rowsBefore: countRows(state.files), rowsAfter: countRows(files) });
  }
  await refreshPointer(lake);
  return { tables, lost: gone.map(({ state, why }) => `${state.table}: rows that the other program removed (${why})`) };
}

async function planRestoration(lake: Lake, state: TableState, { pointer }: Inspection): Promise<Restoration> {
  const { table } = state;
  const left = pointer?.tables[table]?.version ?? -1n;
  const log = await readLog(lake, table, { until: left });
  if (log.version !== left) return { state, files: undefined, why: `its log no longer contains version ${left}` };
  const files = [...log.files.values()];
  const damage = await findDamagedFile(files, (path) => tablePath(lake, table, path));
  return damage === undefined ? { state, files, why: '' } : { state, files: undefined, why: damage };
}

function planChange(lake: Lake, state: TableState, files: readonly DataFile[], accepted: bigint): FileChange {
  const now = new Set(state.files.map(({ path }) => path));
  const then = new Set(files.map(({ path }) => path));
  return {
    table: state.table,
    add: files
      .filter(({ path }) => !now.has(path))
      .map((file) => ({ ...file, stagedAt: tablePath(lake, state.table, file.path) })),
    remove: state.files.filter(({ path }) => !then.has(path)),
    applied: { accepted },
  };
}
