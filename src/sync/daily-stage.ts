import type { Database } from '../duckdb/connection.js';
import type { Lake } from '../lake/layout.js';
import type { Applied, DataFile, StagedFile, TableState } from '../tables/table.js';

export const DAY_MS = 24 * 3600 * 1000;

/** What staging the closed days needs; views show the lake as it would be, price_spread_daily as it is. */
export interface DailyStage {
  db: Database;
  lake: Lake;
  /** Table price_spread_daily as the run found it. */
  table: TableState;
  /** SQL of a relation: the rows before the run of the items that it changed; undefined where there was no table. */
  itemsBefore: string | undefined;
  now: Date;
  /** How many closed days the table reaches back when it is first made; 0 for no table. */
  days: number;
  stage: (select: string) => Promise<StagedFile[]>;
}

/** The next version of price_spread_daily; undefined when it stays as it is. */
export interface DailyChange {
  add: StagedFile[];
  remove: DataFile[];
  applied: Partial<Applied>;
}

/** A number of days since 1970 as `2026-11-20`. */
export function formatDay(day: bigint): string {
  return new Date(Number(day) * DAY_MS).toISOString().slice(0, 10);
}
