import { type LakeMemory, listIdleRuns } from '../../journal/memory.js';
import type { Tables } from '../../lake/read.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import { sql } from '../../sql/sql.js';
import type { RunMode } from '../../tables/table.js';

/** The duration of an earlier run, and the number of rows that it received. */
export interface EarlierRun {
  run: bigint;
  mode: RunMode;
  seconds: number;
  rows: bigint;
}

const RECENT = 20;

/** Finds the recent run with the most similar number of rows, in the same mode if there is one. */
export async function findEarlierRun(
  { graph, before, tables, memory }: EarlierRuns,
  mode: RunMode,
  expected: bigint,
): Promise<EarlierRun | undefined> {
  const published =
    tables.runs.files.length === 0
      ? []
      : await graph.rows(
          sql`SELECT run_number, mode, seconds, received FROM ${await before.rows('runs')} WHERE tries = 1
            QUALIFY row_number() OVER (PARTITION BY mode ORDER BY run_number DESC) <= ${RECENT}
            ORDER BY run_number DESC`,
        );
  const runs = [...listIdleRuns(memory.state).reverse(), ...published].flatMap((row) => {
    const { run_number: run, mode, seconds, received } = row;
    return typeof run === 'bigint' && typeof seconds === 'number' && typeof received === 'bigint'
      ? [{ run, mode: mode as RunMode, seconds, rows: received }]
      : [];
  });
  const alike = runs.filter((run) => run.mode === mode);
  const distance = ({ rows }: EarlierRun) => Math.abs(Math.log((Number(rows) + 1) / (Number(expected) + 1)));
  return (alike.length > 0 ? alike : runs).sort((a, b) => distance(a) - distance(b))[0];
}

interface EarlierRuns {
  graph: RelationGraph;
  before: LakeRows;
  tables: Tables;
  memory: { state: LakeMemory };
}
