import { readManifest } from '../../deliver/manifest.js';
import { requireBase, writeForLoader } from '../../deliver/manifest-formats.js';
import { openLake } from '../../lake/lake.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { deliverManifest } from '../commands/deliver.js';
import { findTarget } from '../find-target.js';
import { toJsonText } from '../json-text.js';
import { renameMembers } from '../member-names.js';
import { writeText } from '../output/output.js';

/**
 * Lists the files of a table's current version for a warehouse loader, or only the files added since a given version.
 * @throws PricelakeError `usage` if the loader can't read the address or the files; `lake_invalid` if there is no lake
 */
export async function writeManifest(
  request: Arguments<typeof deliverManifest>,
  context: CommandContext,
): Promise<CommandReport> {
  const { format, base, output: file } = request;
  if (format !== 'json') requireBase(format, base);
  const { lake: path } = await findTarget(request);
  const listing = await readManifest(await openLake(path, { create: false }), request);
  const text = format === 'json' ? `${toJsonText(renameMembers(listing))}\n` : writeForLoader(listing, format);
  await writeText(text, file, context);
  // Only the JSON format has a field for attribution texts. For the other formats, they are logged.
  const texts = listing.attribution.map(({ attribution }) => attribution);
  if (format !== 'json' && texts.length > 0) context.io.log('info', 'attribution', { texts });
  return { ...listing, format, file };
}
