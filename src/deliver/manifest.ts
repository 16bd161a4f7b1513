import { Database } from '../duckdb/connection.js';
import { type Attribution, readAttributions } from '../lake/attribution.js';
import type { Lake } from '../lake/lake.js';
import type { LogEntry } from '../lake/log-entries.js';
import { findOlderFiles } from '../lake/older-files.js';
import { readTable } from '../lake/read.js';
import { relateTable } from '../lake/views.js';
import type { DataFile, TableName } from '../tables/table.js';
import { parseSince } from './since.js';
import { readSpan } from './table-span.js';

export interface ManifestFile {
  url: string;
  rows: bigint;
  bytes: number;
  sha256: string | undefined;
  partition: Record<string, string | null>;
  /** Columns of the table that the file is older than: null in its rows. */
  missing_columns: string[];
}

/** A commit, and the files that it added and removed; a removed one is there no more unless the lake has a retention. */
export interface ManifestCommit {
  version: bigint;
  at: string | undefined;
  run_id: string | undefined;
  operation: string;
  /** False if the same rows are only in other files (compaction). */
  changes_rows: boolean;
  added: Omit<ManifestFile, 'missing_columns'>[];
  removed: { url: string }[];
}

/** What a loader needs to load a table's version, or what came since another one, and no other file. */
export interface Manifest {
  table: TableName;
  version: bigint;
  /** The version that the loader has, and the commits since, in order; absent for the whole version. */
  since?: bigint;
  commits?: ManifestCommit[];
  rows: bigint;
  bytes: number;
  /** The files to load: of the version all, or those that the one before lacks. */
  files: ManifestFile[];
  /** Licence and credit texts that go with the data. */
  attribution: (Omit<Attribution, 'siteId'> & { site_id: bigint })[];
}

export interface ManifestWish {
  table: TableName;
  /** Address under which the loader finds the lake, e.g. `s3://bucket/lake`; default its folder. */
  base?: string | undefined;
  since?: string | undefined;
}

/** @throws PricelakeError `usage` where the log of the table does not reach back so far. */
export async function readManifest(lake: Lake, { table, base, since }: ManifestWish): Promise<Manifest> {
  const state = await readTable(lake, table);
  const span = since === undefined ? undefined : await readSpan(lake, table, parseSince(since));
  const listed = span?.added ?? state.files;
  const { locate, describe } = describeFor(base ?? lake.root, table);
  const describeCommit = (entry: LogEntry): ManifestCommit => ({
    version: entry.version,
    at: entry.at === undefined ? undefined : new Date(entry.at).toISOString(),
    run_id: entry.runId,
    operation: entry.operation,
    changes_rows: entry.changesRows,
    added: entry.added.map(describe),
    removed: entry.removed.map((path) => ({ url: locate(path) })),
  });
  const commits = span?.entries.filter(({ added, removed }) => added.length + removed.length > 0);
  return {
    table,
    version: state.version,
    ...(span === undefined ? {} : { since: span.from, commits: commits?.map(describeCommit) }),
    rows: listed.reduce((sum, { rows }) => sum + rows, 0n),
    bytes: listed.reduce((sum, { bytes }) => sum + bytes, 0),
    files: await listFiles(lake, table, listed, base),
    attribution: await readCredits(lake),
  } as Manifest;
}

function describeFor(base: string, table: TableName) {
  const locate = (path: string) => `${base.replace(/\/+$/, '')}/${table}/${path}`;
  const describe = (file: DataFile) => ({
    url: locate(file.path),
    rows: file.rows,
    bytes: file.bytes,
    sha256: file.sha256,
    partition: file.partitionValues,
  });
  return { locate, describe };
}

/** Files of a table as a loader finds them, each with the columns that it lacks. */
export async function listFiles(
  lake: Lake,
  table: TableName,
  files: DataFile[],
  base = lake.root,
): Promise<ManifestFile[]> {
  const older = await findOlderFiles(lake, { ...(await readTable(lake, table)), files });
  const { describe } = describeFor(base, table);
  return files.map((file) => ({ ...describe(file), missing_columns: older.get(file) ?? [] }));
}

async function readCredits(lake: Lake): Promise<Manifest['attribution']> {
  const db = await Database.open();
  try {
    return (await readAttributions(db, await relateTable(db, lake, 'sites'))).map(({ siteId, ...site }) => ({
      site_id: siteId,
      ...site,
    }));
  } finally {
    await db.close();
  }
}
