import { PricelakeError } from '../io/errors.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { DERIVED_TABLES, type TableName, type TableState } from '../tables/table.js';
import { nameCommit } from './delta-actions.js';
import { REBUILD_HINT } from './delta-log.js';
import { type ForeignCommit, findForeignCommits } from './foreign-commit.js';
import type { Pointer } from './pointer.js';

/** The tables that a full copy (`sync --reconcile`) repairs. Only a rebuild can repair the other tables. */
const REPAIRED_BY_COPY: readonly TableName[] = ['items', 'datasets', ...DERIVED_TABLES];

/**
 * Finds commits by other programs that changed rows or columns. Ignores commits that are part of the versions in
 * lake.json, commits that a run has repaired, and commits that keep all rows (OPTIMIZE, VACUUM).
 */
export async function findForeignChanges(
  lake: Lake,
  states: readonly TableState[],
  pointer: Pointer | undefined,
): Promise<ForeignCommit[]> {
  const found: ForeignCommit[] = [];
  for (const { table, version, applied } of states) {
    const left = larger(pointer?.tables[table]?.version ?? -1n, applied.accepted ?? -1n);
    if (version <= left) continue;
    const commits = await findForeignCommits(lake, table, left);
    found.push(...commits.filter(({ change }) => change !== undefined));
  }
  return found;
}

export function isRepairedByCopy(changes: readonly ForeignCommit[]): boolean {
  return changes.every(({ table }) => REPAIRED_BY_COPY.includes(table));
}

/** Throws if other programs changed rows or columns. @throws PricelakeError `lake_invalid` naming the first change */
export function refuseForeignChanges(lake: Lake, changes: readonly ForeignCommit[]): void {
  const [first] = changes;
  if (first === undefined) return;
  const { table, version, operation, engine, change } = first;
  const more = changes.length === 1 ? '' : `; and ${changes.length - 1} more such commits`;
  const what = `${tablePath(lake, table)}: another program wrote ${nameCommit(first)}, which ${change}${more}`;
  const repair = '`pricelake sync --reconcile` compares everything with the service and repairs differences; ';
  const hint = `${isRepairedByCopy(changes) ? repair : ''}${REBUILD_HINT}`;
  const commits = changes.map((one) => `${one.table} ${nameCommit(one)}`);
  throw new PricelakeError('lake_invalid', what, { hint, table, version: String(version), operation, engine, commits });
}

export function markAccepted(changes: readonly ForeignCommit[]): Partial<Record<TableName, bigint>> {
  const marks: Partial<Record<TableName, bigint>> = {};
  for (const { table, version } of changes) marks[table] = larger(marks[table] ?? -1n, version);
  return marks;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
