import type { RunsRow } from '../../tables/rows.js';
import type { RunMode } from '../../tables/table.js';

/** A row of table `runs` (schemas/runs.yaml). */
export type RunRow = RunsRow & { mode: RunMode };

/** The row equation's terms. */
export interface RowTally {
  received: bigint;
  written: bigint;
  rejected: bigint;
  deduplicated: bigint;
}
