import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { type ExportAttempt, findDone, listCut } from '../journal/exports.js';
import type { Landing } from '../journal/landings.js';
import type { ItemFile } from './item-files.js';

/** True for a file of an export of one website: it has the name of its shard. */
export function isOfOneSite({ path: file }: Pick<ItemFile, 'path'>): boolean {
  return /^export-(?:dataset-\d+-)?site-\d+-\d+-/u.test(path.basename(file));
}

/** Segments of the shard's complete export; undefined while it has none. */
export function listSegments({ journal, folder }: Landing, shard: string): ItemFile[] | undefined {
  const done = findDone(journal.state.exports, shard);
  return done && placeSegments(folder, done);
}

/** Segments of exports that the service cut. They are paid for, but no copy. */
export function listCutSegments({ journal, folder }: Landing): ItemFile[] {
  return listCut(journal.state.exports).flatMap((cut) => placeSegments(folder, cut));
}

function placeSegments(folder: string, { segments, readAt }: ExportAttempt): ItemFile[] {
  return segments.map(({ file, rows, bytes }) => ({ path: path.join(folder, file), rows, bytes, readAt }));
}

/** Removes segments of earlier attempts, except of exports that the service cut: others count whole or not at all. */
export async function removeSegments({ journal, folder }: Landing, name: string): Promise<void> {
  const kept = listCut(journal.state.exports, name).map(({ attempt }) => `export-${name}-${attempt}-`);
  for (const file of await readdir(folder)) {
    const isKept = kept.some((prefix) => file.startsWith(prefix));
    if (file.startsWith(`export-${name}-`) && !isKept) await rm(path.join(folder, file));
  }
}
