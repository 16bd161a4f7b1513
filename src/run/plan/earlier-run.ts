import { type LakeMemory, listIdleRuns } from '../../journal/memory.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import { sql } from '../../sql/sql.js';
import type { RunMode } from '../../tables/table.js';
import type { Tables } from '../open/open-tables.js';

/** The time that a run took, by the ledger, and the rows that it received. */
export interface EarlierRun {
  run: bigint;
  seconds: number;
  rows: bigint;
}

const RECENT = 20;

/**
 * The newest run of a mode that received about as many rows; undefined if there is none.
 * The memory has the runs that found nothing new since the last publication.
 */
export async function findEarlierRun(
  { graph, before, tables, memory }: EarlierRuns,
  mode: RunMode,
  expected: bigint,
): Promise<EarlierRun | undefined> {
  const published =
    tables.runs.files.length === 0
      ? []
      : await graph.rows(
          sql`SELECT run_number, seconds, received FROM ${await before.rows('runs')} WHERE mode = ${mode} AND tries = 1
            ORDER BY run_number DESC LIMIT ${RECENT}`,
        );
  const idle = listIdleRuns(memory.state).filter((row) => row.mode === mode);
  const runs = [...idle.reverse(), ...published].flatMap(({ run_number: run, seconds, received }) =>
    typeof run === 'bigint' && typeof seconds === 'number' && typeof received === 'bigint'
      ? [{ run, seconds, rows: received }]
      : [],
  );
  const distance = ({ rows }: EarlierRun) => Math.abs(Math.log((Number(rows) + 1) / (Number(expected) + 1)));
  return runs.sort((a, b) => distance(a) - distance(b))[0];
}

interface EarlierRuns {
  graph: RelationGraph;
  before: LakeRows;
  tables: Tables;
  memory: { state: LakeMemory };
}
