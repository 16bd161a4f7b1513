import type { DataFile, ForeignCommit, TableName } from '../tables/table.js';
import type { MetaData, Protocol, Txn } from './delta-actions.js';

/** A table's whole state: the replay of its log. */
export interface LogState {
  table: TableName;
  /** -1n before the first commit. */
  version: bigint;
  /** Version of the checkpoint that the replay began at. */
  checkpoint: bigint | undefined;
  protocol: Protocol | undefined;
  metaData: MetaData | undefined;
  /** By decoded path. */
  files: Map<string, DataFile>;
  /** Decoded path → when it was removed, ms since the epoch. */
  tombstones: Map<string, number>;
  txn: Map<string, Txn>;
  /** Commits by other programs among those that were replayed. */
  foreign: ForeignCommit[];
}
