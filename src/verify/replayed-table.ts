import type { TableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';

interface ForeignEntry {
  version: number;
  /** The operation and program of a commit, such as `DELETE by delta-rs:py-1.6.6`. */
  name: string;
  changesRows: boolean;
}

export interface LoggedFile {
  /** The path in the table's folder. */
  path: string;
  bytes: number;
  partitionValues: Record<string, string | null>;
  /** Statistics as JSON text from the log. */
  stats: string;
  sha256: string | undefined;
}

export interface ReplayedTable {
  table: TableName;
  schema: TableSchema;
  version: number;
  commits: number;
  files: Map<string, LoggedFile>;
  /** When each file was removed, in milliseconds since 1970, keyed by path. */
  superseded: Map<string, number>;
  txn: Map<string, bigint>;
  /** The table's id in Delta. */
  id: string | undefined;
  schemaString: string;
  partitionColumns: string[];
  configuration: Record<string, string>;
  foreign: ForeignEntry[];
  /**
   * The actions that a checkpoint must repeat, as text, keyed by kind and by the path of a file or the id of a `txn`.
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
