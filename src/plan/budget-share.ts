import type { CallCap } from '../api/client.js';

export interface ShareUse {
  calls: bigint;
  exportRows: bigint;
  blocks: bigint;
}

/**
 * One shard's part of a monthly budget. Each shard counts only its own usage. All shards together stay within the
 * budget, even on different machines, because their parts add up to at most 1.
 */
export interface BudgetShare {
  readonly shard: string;
  /** The fraction of the budget, from 0 to 1. */
  readonly part: number;
  readonly cap: CallCap;
  /** Returns what the shard has used in the month that ends at `resetsAt`. */
  readUse(resetsAt: Date): ShareUse;
  noteExport(rows: bigint, blocks: bigint): void;
}
