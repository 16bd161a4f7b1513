import { isSafeNumber, parse as parseLossless } from 'lossless-json';
import { PricelakeError } from '../io/errors.js';
import { findDataPathFault, quotePath } from '../io/inner-path.js';
import type { DataFile, ForeignCommit, TableName } from '../tables/table.js';

const SHA256_TAG = 'pricelake.sha256';

export interface MetaData {
  id: string;
  description?: string;
  format: { provider: string; options: Record<string, string> };
  schemaString: string;
  partitionColumns: string[];
  configuration: Record<string, string>;
  createdTime?: number;
}

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

/** Delta `txn`: the version that an application has come to. */
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

/**
 * Parses one action; its paths are decoded. `txn` versions are int64: only those lines take the slow, exact way.
 * @throws PricelakeError `lake_invalid` for a file that is not in the table, or facts of one that can't be true
 */
export function parseAction(line: string): Action {
  const parsed = JSON.parse(line) as Action;
  const action =
    parsed.txn == null
      ? parsed
      : (parseLossless(line, null, (text) => (isSafeNumber(text) ? Number(text) : BigInt(text))) as Action);
  const { add, remove } = action;
  return {
    ...action,
    ...(add == null ? {} : { add: checkAdd({ ...add, path: decodeLogPath(add.path) }) }),
    ...(remove == null ? {} : { remove: { ...remove, path: decodeLogPath(remove.path) } }),
  };
}

/** Refuses an action that could fetch too many bytes, or bring text into SQL. */
function checkAdd(add: AddAction): AddAction {
  const { path, size, partitionValues } = add;
  const isText = (value: unknown) => value === null || (typeof value === 'string' && !value.includes('\0'));
  if (Number.isSafeInteger(size) && size >= 0 && Object.values(partitionValues).every(isText)) return add;
  throw new PricelakeError('lake_invalid', `the size or the partition values of ${quotePath(path)} are impossible`);
}

/** Rows of a file by its statistics (JSON text); undefined if they do not say. */
export function readNumRecords(stats: string | null | undefined): number | undefined {
  return stats == null ? undefined : (JSON.parse(stats) as { numRecords?: number }).numRecords;
}

/** `add` of an action that was parsed → the file. */
export function readAdd(add: AddAction): DataFile {
  const stats = add.stats ?? '{}';
  const sha256 = add.tags?.[SHA256_TAG];
  return {
    path: add.path,
    rows: BigInt(readNumRecords(stats) ?? 0),
    bytes: add.size,
    partitionValues: add.partitionValues,
    stats,
    modifiedAt: add.modificationTime,
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}

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
 * A path in the log is a URI (protocol, "Add File and Remove File"). A name that is encoded on disk is encoded once
 * more: `site=a%20b` becomes `site=a%2520b`.
 */
export function encodeLogPath(path: string): string {
  return path
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3D', '='))
    .join('/');
}

/** The inverse of `encodeLogPath`. @throws PricelakeError `lake_invalid` for a path that does not stay in the table */
function decodeLogPath(path: string): string {
  const decoded = typeof path === 'string' ? decodeURIComponent(path) : '';
  const fault = findDataPathFault(decoded);
  if (fault === undefined) return decoded;
  throw new PricelakeError('lake_invalid', `the path ${quotePath(String(path))} ${fault}`);
}

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
