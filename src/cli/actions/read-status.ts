import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DuckDBValue } from '@duckdb/node-api';
import { ignoreMissing } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { type LakeMemory, listBrokenExports, listIdleRuns, readMemory } from '../../journal/memory.js';
import { readLock } from '../../lake/lock-state.js';
import { type Pointer, readPointer } from '../../lake/pointer.js';
import { type Bound, type Budget, countLeft, findAllowance } from '../../plan/allowance.js';
import { findRetryAt } from '../../plan/broken-exports.js';
import { inspectOpenRun } from '../../run/open/inspect-runs.js';
import { recallAccountPlan, type ServiceState } from '../../run/open/service-state.js';
import type { RunRow } from '../../run/prove/run-record.js';
import type { Database } from '../../sql/connection.js';
import { type Lake, privatePath, tablePath } from '../../tables/layout.js';
import { type DatasetSelection, TABLE_NAMES } from '../../tables/table.js';
import { countFiles } from '../../wings/webhook/index.js';
import type { OpenedLake } from '../read-lake.js';

const RUNS_SHOWN = 5;
const RUNS_SQL = `SELECT run_number AS run, mode, started_at, round(seconds, 1) AS seconds, calls, export_rows, received,
  written, rejected, deduplicated, cursor_to, caught_up, listing_unknown FROM runs ORDER BY run_number DESC LIMIT ${RUNS_SHOWN}`;
const CHECKS_SQL = `SELECT name, severity, violations, let_through FROM check_results
  WHERE run_id = (SELECT arg_max(run_id, run_number) FROM runs) ORDER BY violations DESC, name`;

export interface Rows {
  names: string[];
  rows: DuckDBValue[][];
}

/** The values that the `status` command shows. `datasets` is undefined if no run has been published. */
export type Status = Awaited<ReturnType<typeof readStatus>> & { datasets: DatasetSelection | undefined };

export async function readStatus(
  { lake, db, remote }: OpenedLake,
  service: ServiceState | undefined,
  budget: Budget,
  io: Io,
) {
  const pointer = await readPointer(lake);
  const tables = Object.entries(pointer?.tables ?? {}).map(([table, { version, rows, files }]) => {
    return { table, version, rows, files: files.length, bytes: files.reduce((sum, file) => sum + file.bytes, 0) };
  });
  const memory = await readMemory(lake);
  const lock = remote === undefined ? await readLock(lake, io) : remote.holder;
  const idle = listIdleRuns(memory);
  const finished = idle.at(-1)?.finished_at;
  const tableBytes = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    lake: remote?.url ?? lake.root,
    pointer,
    /** The time at which a run last read the change feed to its end. */
    upToDateAt: finished === undefined ? pointer?.at : new Date(finished),
    /** The number of runs since the last publication, none of which found changes. */
    idleRuns: idle.length,
    listing: await readListing(db, idle.at(-1)),
    tables,
    bytes: { tables: tableBytes, ...(await measureFolders(lake, tableBytes)) },
    lock,
    open: await inspectOpenRun(lake, lock?.alive === true),
    webhooks: await countFiles(lake.root),
    budget: readBudget(memory, service, budget, io),
    brokenExports: listBrokenExports(memory).map((broken) => ({
      ...broken,
      retryAt: broken.format === undefined ? findRetryAt(broken) : undefined,
    })),
    lag: service === undefined ? undefined : await measureLag(db, pointer, service),
    /**
     * The newest processes that worked on runs. Each lists the seconds that its steps took, and its error if it failed.
     */
    tries: memory.tries.slice(-RUNS_SHOWN).reverse(),
    runs: await readRows(db, RUNS_SQL),
    checks: await readRows(db, CHECKS_SQL),
  };
}

/**
 * Returns the number of items for which the last run couldn't determine whether they are still listed, and the reason.
 * Returns undefined if there are no such items.
 */
async function readListing(db: Database, idle: RunRow | undefined) {
  const last =
    idle ?? (await db.row('SELECT run_number, listing_unknown, reason FROM runs ORDER BY run_number DESC LIMIT 1'));
  const unknown = last?.listing_unknown ?? 0n;
  if (last === undefined || typeof unknown !== 'bigint' || unknown === 0n) return undefined;
  return { run: BigInt(String(last.run_number)), unknown, reason: String(last.reason) };
}

async function measureFolders(lake: Lake, tableBytes: number) {
  let onDisk = 0;
  for (const table of TABLE_NAMES) onDisk += await measureFolder(tablePath(lake, table), '.parquet');
  const landing = await measureFolder(privatePath(lake, 'landing'), '');
  return { superseded: Math.max(0, onDisk - tableBytes), landing };
}

/**
 * Returns the total size of the files in a folder, in bytes. Doesn't count transaction logs or files that are deleted
 * during the measurement.
 */
async function measureFolder(folder: string, suffix: string): Promise<number> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }).catch(ignoreMissing)) ?? [];
  let bytes = 0;
  for (const entry of entries) {
    if (!entry.isFile() || !entry.name.endsWith(suffix) || entry.parentPath.endsWith('_delta_log')) continue;
    bytes += (await lstat(join(entry.parentPath, entry.name)).catch(ignoreMissing))?.size ?? 0;
  }
  return bytes;
}

/**
 * Returns how many calls and export rows are left this month under the strictest limit that applies. Returns undefined
 * if no run has read the account's plan.
 */
export function readBudget(memory: LakeMemory, service: ServiceState | undefined, budget: Budget, io: Io) {
  const seen = service === undefined ? recallAccountPlan(memory) : { plan: service.plan, seenAt: io.now() };
  if (seen === undefined) return undefined;
  const { plan, seenAt } = seen;
  const left = findAllowance(plan, budget);
  return {
    seenAt,
    plan: plan.name,
    status: plan.status,
    calls: describeBound(left.calls),
    exportRows: describeBound(left.rows ?? left.quota),
    resetsAt: left.resetsAt,
  };
}

function describeBound(bound: Bound | undefined) {
  return bound && { rule: bound.rule, allowed: bound.allowed, left: countLeft(bound) };
}

/**
 * Measures by how many seconds the lake is behind the newest change of the feed, according to the service's timestamps.
 */
async function measureLag(db: Database, pointer: Pointer | undefined, { newest }: ServiceState) {
  if (newest === undefined) return { newestChange: undefined, newestAt: undefined, isBehind: false, seconds: 0 };
  const newestAt = new Date(newest.observedAt);
  const isBehind = newest.id > (pointer?.cursor ?? 0n);
  const row = await db.row(`SELECT epoch_ms(greatest(
    (SELECT max(observed_at) FROM history), (SELECT max(last_changed_at) FROM items))) AS at`);
  const shownAt = typeof row?.at === 'bigint' ? Number(row.at) : newestAt.getTime();
  const ms = isBehind ? Math.max(0, newestAt.getTime() - shownAt) : 0;
  return { newestChange: newest.id, newestAt, isBehind, seconds: ms / 1000 };
}

async function readRows(db: Database, sql: string): Promise<Rows> {
  const reader = await db.read(sql);
  return { names: reader.columnNames(), rows: reader.getRows() };
}
