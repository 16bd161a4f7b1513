import { isSafeNumber, parse as parseLossless } from 'lossless-json';
import * as z from 'zod';
import { PricelakeError } from '../io/errors.js';
import { findDataPathFault, quotePath } from '../io/inner-path.js';
import type { DataFile, TableName } from '../tables/table.js';
import { readDeltaColumns } from './column-difference.js';

export const SHA256_TAG = 'pricelake.sha256';

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

/** The value of Delta's `txn` action, which records the version that an application has reached. */
export interface Txn {
  version: bigint;
  lastUpdated: number;
}

/** A line of a commit, or a row of a checkpoint. */
export interface Action {
  add?: AddAction | null;
  remove?: { path: string; deletionTimestamp?: number | null; dataChange?: boolean | null } | null;
  txn?: { appId: string; version: number | bigint; lastUpdated?: number | bigint | null } | null;
  metaData?: MetaData | null;
  protocol?: Protocol | null;
  /** Facts that the writing program records about the commit. Another program's values may have any type. */
  commitInfo?: Partial<Record<'operation' | 'engineInfo' | 'timestamp' | 'runId', unknown>> | null;
}

const optional = <Type extends z.ZodType>(type: Type) => type.nullish();
const whole = z.union([z.int(), z.bigint()]);

/** The members of an action that pricelake reads. Other members are allowed. */
const actionSchema = z.object({
  add: optional(
    z.object({
      path: z.string(),
      partitionValues: z.record(z.string(), z.string().nullable()),
      size: z.number(),
      modificationTime: z.number(),
      stats: optional(z.string()),
      tags: optional(z.record(z.string(), optional(z.string()))),
    }),
  ),
  remove: optional(z.object({ path: z.string(), deletionTimestamp: optional(z.number()) })),
  txn: optional(z.object({ appId: z.string(), version: whole, lastUpdated: optional(whole) })),
  metaData: optional(
    z.object({
      id: z.string(),
      format: z.object({ provider: z.string() }),
      schemaString: z.string(),
      partitionColumns: z.array(z.string()),
      configuration: z.record(z.string(), z.string()),
    }),
  ),
  protocol: optional(
    z.object({
      minReaderVersion: z.int(),
      minWriterVersion: z.int(),
      readerFeatures: optional(z.array(z.string())),
    }),
  ),
  commitInfo: optional(z.object({})),
});

const statsSchema = z.object({ numRecords: z.int().min(0).optional() });

/**
 * Parses an action and decodes its paths. Uses a slower parser for a line with `txn`, to keep 64-bit integers exact.
 * @throws PricelakeError `lake_invalid` if a field is missing, invalid or of the wrong type, or if a path leads outside
 * the table; another Error if the line isn't JSON or the statistics are malformed
 */
export function parseAction(line: string): Action {
  const parsed = JSON.parse(line) as Action | null;
  const action = checkShape(
    parsed?.txn == null
      ? parsed
      : parseLossless(line, null, (text) => (isSafeNumber(text) ? Number(text) : BigInt(text))),
  );
  const { add, remove, metaData } = action;
  if (metaData != null) readDeltaColumns(metaData.schemaString);
  return {
    ...action,
    ...(add == null ? {} : { add: checkAdd({ ...add, path: decodeLogPath(add.path) }) }),
    ...(remove == null ? {} : { remove: { ...remove, path: decodeLogPath(remove.path) } }),
  };
}

function checkShape(value: unknown): Action {
  const { success, error } = actionSchema.safeParse(value);
  if (success) return value as Action;
  const where = error.issues[0]?.path.join('.') ?? '';
  throw new PricelakeError(
    'lake_invalid',
    where === '' ? 'it is not an object' : `${where} is missing or has the wrong type`,
  );
}

/** Throws if a file's size or partition values could make a reader fetch too many bytes or run injected SQL. */
function checkAdd(add: AddAction): AddAction {
  const { path, size, partitionValues } = add;
  const isText = (value: unknown) => value === null || (typeof value === 'string' && !value.includes('\0'));
  readNumRecords(add.stats);
  if (Number.isSafeInteger(size) && size >= 0 && Object.values(partitionValues).every(isText)) return add;
  throw new PricelakeError('lake_invalid', `the size or the partition values of ${quotePath(path)} are invalid`);
}

/** Reads the row count from a file's statistics, or undefined if it is missing. @throws Error if they are malformed */
export function readNumRecords(stats: string | null | undefined): number | undefined {
  return stats == null ? undefined : statsSchema.parse(JSON.parse(stats)).numRecords;
}

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

/** Formats a `txn` line. Unlike JSON.stringify, this writes all digits of the version. */
export function writeTxn(appId: string, txn: Txn): string {
  return `{"txn":{"appId":${JSON.stringify(appId)},"version":${txn.version},"lastUpdated":${txn.lastUpdated}}}`;
}

/**
 * Encodes a path as a URI for the log (Delta protocol, Add File and Remove File). Also encodes each `%` in a file name,
 * so the file `site=a%20b` becomes `site=a%2520b`.
 */
export function encodeLogPath(path: string): string {
  return path
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3D', '='))
    .join('/');
}

/** Decodes a path in the log. @throws PricelakeError `lake_invalid` if it leads outside the table */
function decodeLogPath(path: string): string {
  const decoded = typeof path === 'string' ? decodeURIComponent(path) : '';
  const fault = findDataPathFault(decoded);
  if (fault === undefined) return decoded;
  throw new PricelakeError('lake_invalid', `the path ${quotePath(String(path))} ${fault}`);
}

/** A commit's version, with the program and operation that created it. */
export interface NamedCommit {
  version: bigint;
  /** The operation that commitInfo names, such as `DELETE` or `OPTIMIZE`. */
  operation: string;
  /** The program that commitInfo names, such as `delta-rs:py-1.6.6`. */
  engine: string;
}

export function readName(version: bigint, actions: readonly Action[]): NamedCommit {
  const info = actions.find(({ commitInfo }) => commitInfo != null)?.commitInfo;
  return { version, operation: cleanName(info?.operation), engine: cleanName(info?.engineInfo) };
}

const MAX_NAME = 60;

/** Converts untrusted text to one short line of printable ASCII. Returns `unknown` for an empty or missing text. */
function cleanName(text: unknown): string {
  if (typeof text !== 'string' || text === '') return 'unknown';
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, MAX_NAME);
}

/** Formats a commit such as `version 7 (DELETE by delta-rs:py-1.6.6)`. */
export function nameCommit({ version, operation, engine }: NamedCommit): string {
  return `version ${version} (${operation} by ${engine})`;
}

/** The state of a table, computed by replaying its log. */
export interface LogState {
  table: TableName;
  /** The newest version; -1n before the first commit. */
  version: bigint;
  checkpoint: bigint | undefined;
  protocol: Protocol | undefined;
  metaData: MetaData | undefined;
  /** The table's current files, keyed by decoded path. */
  files: Map<string, DataFile>;
  /** The time at which each replaced file was removed, in milliseconds since 1970, keyed by decoded path. */
  tombstones: Map<string, number>;
  txn: Map<string, Txn>;
}
