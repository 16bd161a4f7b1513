import type { TableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';

interface ForeignEntry {
  version: number;
  /** The operation and the program of a commit, such as `DELETE by delta-rs:py-1.6.6`. */
  name: string;
  changesRows: boolean;
}

export interface LoggedFile {
  /** The path within the table's folder. */
  path: string;
  bytes: number;
  partitionValues: Record<string, string | null>;
  /** The statistics in the log, as JSON text. */
  stats: string;
  sha256: string | undefined;
}

export interface ReplayedTable {
  table: TableName;
  schema: TableSchema;
  version: number;
  commits: number;
  files: Map<string, LoggedFile>;
  /** Maps the path of each removed file to the time of its removal in milliseconds since 1970. */
  superseded: Map<string, number>;
  txn: Map<string, bigint>;
  /** The id of the table in Delta's log. */
  id: string | undefined;
  schemaString: string;
  partitionColumns: string[];
  configuration: Record<string, string>;
  foreign: ForeignEntry[];
  /**
   * Maps the key of each action that a checkpoint must repeat to its text. The key has the kind of action, and the path
   * of a file or the id of a `txn`.
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
