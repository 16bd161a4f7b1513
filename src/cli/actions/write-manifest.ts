import { writeFile } from 'node:fs/promises';
import { readManifest } from '../../deliver/manifest.js';
import { type LoaderFormat, requireBase, writeForLoader } from '../../deliver/manifest-formats.js';
import { openLake } from '../../lake/lake.js';
import type { TableName } from '../../tables/table.js';
import { toJsonText } from '../json-text.js';
import { findTarget } from '../reading-target.js';
import type { CommandContext, CommandReport } from '../run-command.js';

export interface ManifestRequest {
  table: TableName;
  lake?: string | undefined;
  format: 'json' | LoaderFormat;
  /** Address under which the loader finds the lake, e.g. `s3://bucket/lake`. */
  base?: string | undefined;
  /** A run, a version or a time: only files that were added since. */
  since?: string | undefined;
  output?: string | undefined;
}

/**
 * Lists the files of a table's current version, or those that came since another one, for a warehouse's loader.
 * @throws PricelakeError `usage` for an address or files that the loader can't read, `lake_invalid` when there is no lake.
 */
export async function writeManifest(
  request: ManifestRequest,
  context: CommandContext,
): Promise<CommandReport | undefined> {
  const { format, base, output: file } = request;
  if (format !== 'json') requireBase(format, base);
  const { lake: path } = await findTarget(request, process.env);
  const manifest = await readManifest(await openLake(path, { create: false }), request);
  const text = format === 'json' ? `${toJsonText(manifest)}\n` : writeForLoader(manifest, format);
  if (file !== undefined) await writeFile(file, text);
  else if (!context.json) await context.output.write(text);
  // The other formats have no place for the credits.
  const texts = manifest.attribution.map(({ attribution }) => attribution);
  if (format !== 'json' && texts.length > 0) context.io.log('info', 'attribution', { texts });
  return { ...manifest, format, file };
}
