import { isSafeNumber, parse as parseLossless } from 'lossless-json';
import type { DataFile } from '../tables/table.js';

/** `add.tags` key of a data file's checksum. */
const SHA256_TAG = 'pricelake.sha256';

/** Delta `metaData`: what a table is. */
export interface MetaData {
  id: string;
  description?: string;
  format: { provider: string; options: Record<string, string> };
  schemaString: string;
  partitionColumns: string[];
  configuration: Record<string, string>;
  createdTime?: number;
}

/** Delta `protocol`: what a reader and a writer must know. */
export interface Protocol {
  minReaderVersion: number;
  minWriterVersion: number;
  readerFeatures?: string[] | null;
}

interface AddAction {
  path: string;
  partitionValues: Record<string, string | null>;
  size: number;
  modificationTime: number;
  stats?: string | null;
  tags?: Record<string, string> | null;
  dataChange?: boolean | null;
}

/** Delta `remove`: a tombstone. */
export interface Tombstone {
  path: string;
  deletionTimestamp: number;
}

/** Delta `txn`: how far an application got. */
export interface Txn {
  version: bigint;
  lastUpdated: number;
}

/** One line of a commit, or one row of a checkpoint. */
export interface Action {
  add?: AddAction | null;
  remove?: { path: string; deletionTimestamp?: number | null; dataChange?: boolean | null } | null;
  txn?: { appId: string; version: number | bigint; lastUpdated?: number | bigint | null } | null;
  metaData?: MetaData | null;
  protocol?: Protocol | null;
  /** Free text of whoever wrote the commit. */
  commitInfo?: Partial<Record<'operation' | 'engineInfo' | 'actions' | 'timestamp' | 'runId', unknown>> | null;
}

/** Parses one action. `txn` versions are int64: only those lines take the slow, exact way. */
export function parseAction(line: string): Action {
  const action = JSON.parse(line) as Action;
  if (action.txn == null) return action;
  return parseLossless(line, null, (text) => (isSafeNumber(text) ? Number(text) : BigInt(text))) as Action;
}

/** `add` as the log names it → the file. */
export function readAdd(add: AddAction): DataFile {
  const stats = add.stats ?? '{}';
  const sha256 = add.tags?.[SHA256_TAG];
  return {
    path: decodeLogPath(add.path),
    rows: BigInt((JSON.parse(stats) as { numRecords?: number }).numRecords ?? 0),
    bytes: add.size,
    partitionValues: add.partitionValues,
    stats,
    modifiedAt: add.modificationTime,
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}

/** A file → the line that adds it. */
export function writeAdd(file: DataFile, dataChange = true): string {
  const tags = file.sha256 === undefined ? {} : { tags: { [SHA256_TAG]: file.sha256 } };
  return JSON.stringify({
    add: {
      path: encodeLogPath(file.path),
      partitionValues: file.partitionValues,
      size: file.bytes,
      modificationTime: file.modifiedAt,
      dataChange,
      stats: file.stats,
      ...tags,
    },
  });
}

/** A file → the line that removes it. */
export function writeRemove(file: DataFile, at: Date, dataChange = true): string {
  return JSON.stringify({
    remove: {
      path: encodeLogPath(file.path),
      deletionTimestamp: at.getTime(),
      dataChange,
      extendedFileMetadata: true,
      partitionValues: file.partitionValues,
      size: file.bytes,
    },
  });
}

/** The line that sets an application's version; int64 as exact digits, which JSON.stringify can't write. */
export function writeTxn(appId: string, txn: Txn): string {
  return `{"txn":{"appId":${JSON.stringify(appId)},"version":${txn.version},"lastUpdated":${txn.lastUpdated}}}`;
}

/**
 * A path in the log is a URI (protocol, "Add File and Remove File"): what DuckDB encoded in a folder's name is
 * encoded once more, `site=a%20b` becomes `site=a%2520b`.
 */
export function encodeLogPath(path: string): string {
  return path
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3D', '='))
    .join('/');
}

/** The inverse of `encodeLogPath`. */
export function decodeLogPath(path: string): string {
  return decodeURIComponent(path);
}
