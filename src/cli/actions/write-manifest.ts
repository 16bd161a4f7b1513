import { writeFile } from 'node:fs/promises';
import { Database } from '../../duckdb/connection.js';
import { PricelakeError } from '../../errors/errors.js';
import { readAttributions } from '../../lake/attribution.js';
import { nameColumns } from '../../lake/column-difference.js';
import { type Lake, openLake } from '../../lake/lake.js';
import { findOlderFiles } from '../../lake/older-files.js';
import { readTable } from '../../lake/read.js';
import { createTableView } from '../../lake/views.js';
import type { TableName, TableState } from '../../tables/table.js';
import { toJsonText } from '../json-text.js';
import { findTarget } from '../reading-target.js';
import type { CommandContext, CommandReport } from '../run-command.js';

export type ManifestFormat = 'json' | 'redshift' | 'list';

export interface ManifestRequest {
  table: TableName;
  lake?: string | undefined;
  format: ManifestFormat;
  /** Address under which the loader finds the lake, e.g. `s3://bucket/lake`. */
  base?: string | undefined;
  output?: string | undefined;
}

/** What a loader needs to load a table's current version, and no other file. */
interface Manifest {
  table: TableName;
  version: bigint;
  rows: bigint;
  bytes: number;
  files: {
    url: string;
    rows: bigint;
    bytes: number;
    sha256: string | undefined;
    /** Columns of the table that the file is older than: null in its rows. */
    missing_columns: string[];
    partition: Record<string, string | null>;
  }[];
  /** Licence and credit texts that go with the data. */
  attribution: { site_id: bigint; name: string; host: string; attribution: string }[];
}

/**
 * Lists the files of a table's current version for a warehouse's loader.
 * @throws PricelakeError `usage` for a Redshift manifest without an address in S3 or of files that lack columns, `lake_invalid` when there is no lake.
 */
export async function writeManifest(
  request: ManifestRequest,
  context: CommandContext,
): Promise<CommandReport | undefined> {
  const { format, base, output: file } = request;
  if (format === 'redshift' && base?.startsWith('s3://') !== true) {
    throw new PricelakeError('usage', 'a Redshift manifest names files in S3', {
      hint: "Give the lake's address there, e.g. --base s3://bucket/lake.",
    });
  }
  const manifest = await readManifest(request);
  if (format === 'redshift') refuseOlderFiles(manifest);
  const text = FORMATS[format](manifest);
  if (file !== undefined) await writeFile(file, text);
  else if (!context.json) await context.output.write(text);
  // The other formats have no place for the credits.
  const texts = manifest.attribution.map(({ attribution }) => attribution);
  if (format !== 'json' && texts.length > 0) context.io.log('info', 'attribution', { texts });
  return { ...manifest, format, file };
}

async function readManifest({ table, lake: named, base }: ManifestRequest): Promise<Manifest> {
  const { lake: path } = await findTarget({ lake: named }, process.env);
  const lake = await openLake(path, { create: false });
  const state = await readTable(lake, table);
  const older = await findOlderFiles(lake, state);
  const prefix = (base ?? lake.root).replace(/\/+$/, '');
  const files = state.files.map((file) => ({
    url: `${prefix}/${table}/${file.path}`,
    rows: file.rows,
    bytes: file.bytes,
    sha256: file.sha256,
    missing_columns: older.get(file) ?? [],
    partition: file.partitionValues,
  }));
  return { table, version: state.version, ...countAll(state), files, attribution: await readCredits(lake) };
}

/** Redshift takes columns by their place: a file without one would fail, or fill others. */
function refuseOlderFiles({ table, files }: Manifest): void {
  const older = files.filter((file) => file.missing_columns.length > 0);
  if (older.length === 0) return;
  const names = [...new Set(older.flatMap((file) => file.missing_columns))];
  throw new PricelakeError(
    'usage',
    `${older.length} of ${files.length} files of ${table} are older than its ${nameColumns(names)}; Redshift loads columns by their place`,
    { hint: '`pricelake compact` rewrites them with all columns.' },
  );
}

function countAll({ files }: TableState): { rows: bigint; bytes: number } {
  return {
    rows: files.reduce((sum, { rows }) => sum + rows, 0n),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

async function readCredits(lake: Lake): Promise<Manifest['attribution']> {
  const db = await Database.open();
  try {
    await createTableView(db, lake, 'sites', 'sites');
    return (await readAttributions(db, 'sites')).map(({ siteId, ...site }) => ({ site_id: siteId, ...site }));
  } finally {
    db.close();
  }
}

const FORMATS: Record<ManifestFormat, (manifest: Manifest) => string> = {
  json: (manifest) => `${toJsonText(manifest)}\n`,
  list: ({ files }) => files.map(({ url }) => `${url}\n`).join(''),
  // Redshift's COPY from Parquet needs the length of each file.
  redshift: ({ files }) =>
    `${JSON.stringify({ entries: files.map(({ url, bytes }) => ({ url, mandatory: true, meta: { content_length: bytes } })) }, null, 1)}\n`,
};
