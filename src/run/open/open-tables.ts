import type { Pipeline } from '../../config/pipeline.js';
import { peekUnfinishedRun } from '../../journal/landings.js';
import {
  findForeignChanges,
  isRepairedByCopy,
  markAccepted,
  refuseForeignChanges,
} from '../../lake/foreign-changes.js';
import { readPointer } from '../../lake/pointer.js';
import type { Tables } from '../../lake/read.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { Lake } from '../../tables/layout.js';
import { TABLE_NAMES, type TableName, type TableState } from '../../tables/table.js';

/** Maps each table that the run's complete copy repairs to the last version in which another program changed it. */
export type Repairs = Partial<Record<TableName, bigint>>;

/**
 * Finds commits by other programs that this run will repair. A run can repair them if it makes a complete copy and
 * hasn't committed any table.
 * @throws PricelakeError `lake_invalid` if the run can't repair such a commit
 */
export async function planRepairs(lake: Lake, states: readonly TableState[], { source }: Pipeline): Promise<Repairs> {
  const changes = await findForeignChanges(lake, states, await readPointer(lake));
  if (changes.length === 0) return {};
  const published = states.find(({ table }) => table === 'runs')?.applied.run ?? 0n;
  const unfinished = await peekUnfinishedRun(lake.root, published);
  const takesCopy = source.mode === 'snapshot' || unfinished?.state.decision?.mode === 'snapshot';
  const isCommitted = states.some((state) => unfinished !== undefined && hasCommitted(state, unfinished.runNumber));
  if (!takesCopy || isCommitted || !isRepairedByCopy(changes)) refuseForeignChanges(lake, changes);
  return markAccepted(changes);
}

/** The lake as it was before the run, and the run's pipeline. */
export interface FoundLake {
  pipeline: Pipeline;
  lake: Lake;
  tables: Tables;
  /** Gives access to the rows of the tables before the run. */
  before: LakeRows;
  standing: Standings;
  repairs: Repairs;
  /** The derived tables that this run computes. */
  derived: readonly TableName[];
  /** True if a setting that a derived table depends on has changed. */
  isDue: boolean;
}

export type Standing = 'absent' | 'before' | 'committed' | 'foreign';
export type Standings = Readonly<Record<TableName, Standing>>;

/** Finds for each table whether it exists and whether this run has committed it. @param foreign tables to repair */
export function findStandings(
  tables: Readonly<Record<TableName, Pick<TableState, 'version' | 'applied'>>>,
  runNumber: bigint,
  foreign: Repairs,
): Standings {
  const find = (table: TableName): Standing => {
    if (foreign[table] !== undefined) return 'foreign';
    if (tables[table].version < 0n) return 'absent';
    return hasCommitted(tables[table], runNumber) ? 'committed' : 'before';
  };
  return Object.fromEntries(TABLE_NAMES.map((table) => [table, find(table)])) as Standings;
}

/** True if the table's log contains a commit of this run or a later one. */
function hasCommitted({ applied }: Pick<TableState, 'applied'>, runNumber: bigint): boolean {
  return (applied.run ?? 0n) >= runNumber;
}
