import { TABLE_NAMES, type TableName, type TableState } from '../../tables/table.js';

/** The standing of a table in a run, by its log (SPEC.md). */
export type Standing = 'absent' | 'before' | 'committed' | 'foreign';
export type Standings = Readonly<Record<TableName, Standing>>;

/** The standing of each table. @param foreign tables that another program changed, which the run repairs */
export function findStandings(
  tables: Readonly<Record<TableName, Pick<TableState, 'version' | 'applied'>>>,
  runNumber: bigint,
  foreign: Partial<Record<TableName, bigint>>,
): Standings {
  const standings = TABLE_NAMES.map((table) => {
    return [table, foreign[table] === undefined ? findStanding(tables[table], runNumber) : 'foreign'];
  });
  return Object.fromEntries(standings) as Standings;
}

function findStanding(state: Pick<TableState, 'version' | 'applied'>, runNumber: bigint): Standing {
  if (state.version < 0n) return 'absent';
  return hasCommitted(state, runNumber) ? 'committed' : 'before';
}

/** True where the run, or a later one, is noted in the table's log. */
export function hasCommitted({ applied }: Pick<TableState, 'applied'>, runNumber: bigint): boolean {
  return (applied.run ?? 0n) >= runNumber;
}
