import type { CallCap } from '../api/client.js';

export interface ShareUse {
  calls: bigint;
  exportRows: bigint;
  blocks: bigint;
}

/**
 * The part of a month's budget that one of several shards may use. Each shard counts its own use, and the parts add up
 * to at most one, so that together the shards stay within the budget even on different machines.
 */
export interface BudgetShare {
  readonly shard: string;
  /** From 0 to 1. */
  readonly part: number;
  readonly cap: CallCap;
  /** The shard's use in the month that ends at `resetsAt`. */
  readUse(resetsAt: Date): ShareUse;
  noteExport(rows: bigint, blocks: bigint): void;
}
