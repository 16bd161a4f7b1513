import type { TableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';

interface ForeignEntry {
  version: number;
  /** `DELETE by delta-rs:py-1.6.6` */
  name: string;
  changesRows: boolean;
}

export interface LoggedFile {
  /** The path in the table's folder. */
  path: string;
  bytes: number;
  partitionValues: Record<string, string | null>;
  /** JSON text from the log. */
  stats: string;
  sha256: string | undefined;
}

export interface ReplayedTable {
  table: TableName;
  schema: TableSchema;
  version: number;
  commits: number;
  files: Map<string, LoggedFile>;
  /** Time of removal by path, in ms since the epoch. */
  superseded: Map<string, number>;
  txn: Map<string, bigint>;
  /** The id that Delta gives the table. */
  id: string | undefined;
  schemaString: string;
  partitionColumns: string[];
  configuration: Record<string, string>;
  foreign: ForeignEntry[];
  /**
   * The actions that a checkpoint must repeat, as text: by kind, and by the path of a file or the id of a transaction.
   */
  live: Map<string, string>;
}

interface Add {
  path: string;
  size: number | bigint;
  partitionValues: Record<string, string | null>;
  stats?: string | null;
  dataChange?: boolean;
  tags?: Record<string, string> | null;
}

export interface Action {
  add?: Add | null;
  remove?: { path: string; deletionTimestamp?: number | bigint | null; dataChange?: boolean } | null;
  txn?: { appId: string; version: number | bigint } | null;
  metaData?: {
    id?: string;
    format?: { provider?: string };
    schemaString: string;
    partitionColumns: string[];
    configuration: Record<string, string>;
  } | null;
  commitInfo?: {
    operation?: unknown;
    engineInfo?: unknown;
    runId?: unknown;
    timestamp?: unknown;
  } | null;
  protocol?: { minReaderVersion: number; minWriterVersion: number } | null;
}
