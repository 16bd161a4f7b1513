import type { CallCap } from '../api/client.js';

/** Calls and rows that a shard has used in a month. */
export interface ShareUse {
  calls: bigint;
  exportRows: bigint;
  /** Blocks of overage that were billed. */
  blocks: bigint;
}

/**
 * The part of a month's budget that one of several shards may use. Each shard counts its own use, and the parts add up to
 * one at most, so together the shards stay within the budget wherever they run.
 */
export interface BudgetShare {
  readonly shard: string;
  /** From 0 to 1. */
  readonly part: number;
  /** Counts the shard's calls. */
  readonly cap: CallCap;
  /** The shard's use in the month that ends then. */
  readUse(resetsAt: Date): ShareUse;
  noteExport(rows: bigint, blocks: bigint): void;
}
