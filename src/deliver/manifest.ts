import { type Attribution, readAttributions } from '../lake/attribution.js';
import { isSealed, readFooterFacts } from '../lake/data-file.js';
import type { LogEntry } from '../lake/log-entries.js';
import { requireFiles } from '../lake/partial.js';
import { readTable } from '../lake/read.js';
import { relateTable } from '../lake/views.js';
import { Database } from '../sql/connection.js';
import { type Lake, tablePath } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { DataFile, TableName } from '../tables/table.js';
import { parseSince } from './since.js';
import { readSpan } from './table-span.js';

interface ManifestFile {
  url: string;
  rows: bigint;
  bytes: number;
  sha256: string | undefined;
  partition: Record<string, string | null>;
  /**
   * Columns of the table that the file lacks, because another program wrote it. Their values are in the table's log, or
   * null if the log doesn't contain them.
   */
  missing_columns: string[];
}

/** A commit after `since`. Files that it removed no longer exist, unless lake.retention keeps them. */
interface ManifestCommit {
  version: bigint;
  at: string | undefined;
  run_id: string | undefined;
  operation: string;
  /** False if the commit only rewrote files (compaction). */
  changes_rows: boolean;
  added: Omit<ManifestFile, 'missing_columns'>[];
  removed: { url: string }[];
}

/** The files that a loader needs: all files of a table version, or only those added since an earlier version. */
export interface Manifest {
  table: TableName;
  version: bigint;
  /**
   * The version that was already loaded, and later commits from oldest to newest. A manifest of a whole version has
   * neither property.
   */
  since?: bigint;
  commits?: ManifestCommit[];
  rows: bigint;
  bytes: number;
  /** All files of the version, or those added since version `since`. */
  files: ManifestFile[];
  /** Attribution texts that must be shown with the data. */
  attribution: (Omit<Attribution, 'siteId'> & { site_id: bigint })[];
}

interface ManifestWish {
  table: TableName;
  /** The address at which the loader reaches the lake, such as `s3://bucket/lake`; by default, the lake's folder. */
  base?: string | undefined;
  since?: string | undefined;
}

/** Lists files for a loader. @throws PricelakeError `usage` if the table's log doesn't reach back to `since` */
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

export async function listFiles(
  lake: Lake,
  table: TableName,
  files: DataFile[],
  base = lake.root,
): Promise<ManifestFile[]> {
  const { describe } = describeFor(base, table);
  await requireFiles(lake, table, files);
  const listed: ManifestFile[] = [];
  for (const file of files) listed.push({ ...describe(file), missing_columns: await findMissing(lake, table, file) });
  return listed;
}

/** Finds columns that are missing from a file. Files that pricelake wrote have all columns. */
async function findMissing(lake: Lake, table: TableName, file: DataFile): Promise<string[]> {
  if (isSealed(file)) return [];
  const { columns } = await readFooterFacts(tablePath(lake, table, file.path));
  return loadTableSchema(table)
    .columns.map(({ name }) => name)
    .filter((name) => !columns.includes(name));
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
