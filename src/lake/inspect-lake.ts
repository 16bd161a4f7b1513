import { isDeepStrictEqual } from 'node:util';
import { PricelakeError } from '../io/errors.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { TABLE_NAMES, type TableName, type TableState } from '../tables/table.js';
import { nameCommit } from './delta-actions.js';
import { readLog } from './delta-log.js';
import { findForeignChanges } from './foreign-changes.js';
import { explainBehind, type Pointer, readPointer } from './pointer.js';
import { readTable } from './read.js';

export interface Inspection {
  /** Undefined if lake.json is missing or damaged. */
  pointer: Pointer | undefined;
  /** The tables whose log can be replayed. Another program may have changed them. */
  states: Map<TableName, TableState>;
  /** For each table with a damaged log or with changes by another program, a description of the fault. */
  damaged: Map<TableName, string>;
  pointerDamage: string | undefined;
}

/** Inspects all logs and lake.json without changing anything. */
export async function inspectLake(lake: Lake): Promise<Inspection> {
  const read = await tryRead(() => readPointer(lake));
  const pointer = read.value;
  const states = new Map<TableName, TableState>();
  const damaged = new Map<TableName, string>();
  for (const table of TABLE_NAMES) {
    const { value: state, damage } = await tryRead(() => readTable(lake, table));
    const fault = state === undefined ? damage : await findFault(lake, state, pointer);
    if (state !== undefined) states.set(table, state);
    if (fault !== undefined) damaged.set(table, fault);
  }
  return { pointer, states, damaged, pointerDamage: read.damage };
}

/** Returns an inspection that reports the same fault for all tables, for a lake of an unsupported format. */
export function inspectNothing(why: string): Inspection {
  const damaged = new Map(TABLE_NAMES.map((table) => [table, why]));
  return { pointer: undefined, states: new Map(), damaged, pointerDamage: undefined };
}

async function findFault(lake: Lake, state: TableState, pointer: Pointer | undefined): Promise<string | undefined> {
  const { table, version, files } = state;
  const { value: changes, damage } = await tryRead(() => findForeignChanges(lake, [state], pointer));
  if (changes === undefined) return damage;
  const [change] = changes;
  if (change !== undefined) return `${tablePath(lake, table)}: ${nameCommit(change)} ${change.change}`;
  // Replays the whole log, because a fault before the newest checkpoint is invisible if replay starts there.
  const { value: log, damage: logDamage } = await tryRead(() => readLog(lake, table, { since: -1n }));
  if (log === undefined) return logDamage;
  if (!isDeepStrictEqual(log.files, new Map(files.map((file) => [file.path, file]))))
    return `${tablePath(lake, table)}: its newest checkpoint has other files than its log entries`;
  return explainBehind(lake, { table, version, paths: files.map(({ path }) => path) }, pointer);
}

async function tryRead<T>(read: () => Promise<T>): Promise<{ value?: T; damage?: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    const isDamage = error instanceof PricelakeError && error.code === 'lake_invalid';
    if (isDamage) return { damage: error.message };
    throw error;
  }
}
