import type { CallCap } from '../api/client.js';

export interface ShareUse {
  calls: bigint;
  exportRows: bigint;
  blocks: bigint;
}

/**
 * One shard's part of a month's budget. Each shard counts its own use, and the parts add up to at most one, so the
 * shards together stay within the budget even on different machines.
 */
export interface BudgetShare {
  readonly shard: string;
  /** The fraction of the budget, from 0 to 1. */
  readonly part: number;
  readonly cap: CallCap;
  /** Returns the shard's use in the month that ends at `resetsAt`. */
  readUse(resetsAt: Date): ShareUse;
  noteExport(rows: bigint, blocks: bigint): void;
}
