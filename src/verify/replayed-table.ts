import type { TableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';

/** A commit of another program. */
interface ForeignEntry {
  version: number;
  /** `DELETE by delta-rs:py-1.6.6` */
  name: string;
  /** True if the commit says that rows changed. */
  changesRows: boolean;
}

/** A data file as the log names it. */
export interface LoggedFile {
  /** Relative to the table's folder. */
  path: string;
  bytes: number;
  partitionValues: Record<string, string | null>;
  /** JSON text from the log. */
  stats: string;
  sha256: string | undefined;
  /** The table's columns when the file was added; undefined if only a checkpoint shows the file. */
  columns: string[] | undefined;
}

/** A table as its log describes it. */
export interface ReplayedTable {
  table: TableName;
  schema: TableSchema;
  version: number;
  /** Number of replayed commits. */
  commits: number;
  /** By path. */
  files: Map<string, LoggedFile>;
  /** Path → time of removal, ms since the epoch. */
  superseded: Map<string, number>;
  txn: Map<string, bigint>;
  /** Delta's own id of the table. */
  id: string | undefined;
  schemaString: string;
  partitionColumns: string[];
  configuration: Record<string, string>;
  foreign: ForeignEntry[];
}

interface Add {
  path: string;
  size: number | bigint;
  partitionValues: Record<string, string | null>;
  stats?: string | null;
  dataChange?: boolean;
  tags?: Record<string, string> | null;
}

/** An action of the protocol, from a commit or a checkpoint. */
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
    actions?: unknown;
  } | null;
  protocol?: { minReaderVersion: number; minWriterVersion: number } | null;
}
