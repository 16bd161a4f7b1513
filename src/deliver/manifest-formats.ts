import { PricelakeError } from '../io/errors.js';
import { nameColumns } from '../lake/column-difference.js';
import type { Manifest } from './manifest.js';
import type { LoaderFormat } from './names.js';
import { SQL_DIALECTS } from './sql-dialects.js';

/** The maximum number of files in a Snowflake FILES list and in a BigQuery load job. */
export const MAX_FILES = { snowflake: 1000, bigquery: 10_000 } as const;

/** URL schemes by loader. Snowflake isn't listed, because it uses paths relative to its stage. */
const SCHEMES: Partial<Record<LoaderFormat, string>> = { redshift: 's3://', bigquery: 'gs://' };

/** Checks the base address. @throws PricelakeError `usage` if it is missing or the loader can't read it */
export function requireBase(format: LoaderFormat, base: string | undefined): void {
  const scheme = SCHEMES[format];
  if (scheme === undefined || base?.startsWith(scheme) === true) return;
  const where = scheme === 's3://' ? 'S3' : 'Google Cloud Storage';
  throw new PricelakeError('usage', `a manifest for ${format} needs the address of the files in ${where}`, {
    hint: `Pass the address of the lake, such as --base ${scheme}bucket/lake.`,
  });
}

/**
 * Formats the files of a manifest for a loader: a Redshift manifest, `FILES` clauses for COPY INTO, JSON lists of URIs
 * for LOAD DATA, or one path per line. COPY INTO needs a stage at the lake's root.
 * @throws PricelakeError `usage` if the loader matches columns by position and a file lacks columns
 */
export function writeForLoader(manifest: Pick<Manifest, 'table' | 'files'>, format: LoaderFormat): string {
  switch (format) {
    case 'list':
      return manifest.files.map(({ url }) => `${url}\n`).join('');
    case 'redshift':
      refuseLackingFiles(manifest);
      return `${JSON.stringify({ entries: manifest.files.map(({ url, bytes }) => ({ url, mandatory: true, meta: { content_length: bytes } })) }, null, 1)}\n`;
    case 'snowflake':
      return inLists(listStagePaths(manifest), MAX_FILES.snowflake)
        .map((paths) => `FILES = (${paths.join(', ')})\n`)
        .join('');
    case 'bigquery':
      return inLists(manifest.files, MAX_FILES.bigquery)
        .map((files) => `${JSON.stringify(files.map(({ url }) => url))}\n`)
        .join('');
  }
}

/**
 * Lists quoted paths relative to the lake's root, which is also the root of the stage. Paths are quoted, because other
 * programs may write files whose names contain quotes.
 */
function listStagePaths({ table, files }: Pick<Manifest, 'table' | 'files'>): string[] {
  return files.map(({ url }) => SQL_DIALECTS.snowflake.quoteText(url.slice(url.lastIndexOf(`/${table}/`) + 1)));
}

export function inLists<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

/**
 * Throws for files that lack columns. Redshift matches columns by position, so loading such a file would fail or fill
 * the wrong columns.
 */
function refuseLackingFiles({ table, files }: Pick<Manifest, 'table' | 'files'>): void {
  const lacking = files.filter((file) => file.missing_columns.length > 0);
  if (lacking.length === 0) return;
  const names = [...new Set(lacking.flatMap((file) => file.missing_columns))];
  throw new PricelakeError(
    'usage',
    `${lacking.length} of ${files.length} files of ${table} come from another program and lack ${nameColumns(names)}; Redshift loads columns by position`,
    { hint: '`pricelake lake compact` rewrites them with all columns.' },
  );
}
