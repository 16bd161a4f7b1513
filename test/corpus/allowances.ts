/** Columns that by nature differ from one making of a lake to the next. */
import type { Allowance } from './compare-lakes.js';

/** The rest of the ledger and the results of checks stay as they were written down. */
export const REBUILT: readonly Allowance[] = [];

export const CONTINUED: readonly Allowance[] = [
  { table: 'check_results', columns: ['seconds'], reason: 'a check is timed by the clock of the machine' },
];
