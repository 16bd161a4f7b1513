import path from 'node:path';
import { type FitId, isNamedId } from '../formats/row-id.js';
import { PricelakeError } from '../io/errors.js';
import type { IdSet } from '../io/id-set.js';
import type { Io } from '../io/io.js';
import { isHydrationExport, nameHydrationExport } from '../journal/exports.js';
import type { Landing } from '../journal/landings.js';
import { isBreak, isLoss, nameChangedExport } from '../plan/broken-exports.js';
import { type ExportGate, readExportRows, readTakenExport } from '../plan/export-gate.js';
import type { DatasetPart } from './dataset-client.js';
import { readLandedIds } from './item-files.js';
import type { ExportFormat } from './row-scanner.js';
import { writeSegments } from './segment-writer.js';

const SEGMENT_BYTES = 48 * 1024 * 1024;

/** `fitId` recognizes the field with an item's id. `gate` decides whether an export is allowed. */
export interface AskedExport {
  format: ExportFormat;
  fitId: FitId;
  gate: ExportGate;
}

/**
 * Downloads an export of the items that have changed since `changedSince` (API §4, /export), and removes these items
 * from `itemIds`. If the export is interrupted or cut off, the remaining items must be read in another way. Calls
 * `onLanded` after each file.
 */
export async function landHydrationExport(
  { client, dataset }: DatasetPart,
  landing: Landing,
  { itemIds, changedSince }: { itemIds: IdSet; changedSince: string },
  { format, fitId, gate }: AskedExport,
  onLanded: () => void,
  io: Io,
): Promise<void> {
  const { journal, folder } = landing;
  const name = nameChangedExport(dataset);
  let rows = 0n;
  try {
    const readAt = io.now().toISOString();
    const query = { format, status: 'all', changedSince: new Date(changedSince) };
    const { body, headers } = await client.stream('/export', query);
    const announced = readExportRows(headers);
    rows = announced;
    const taken = readTakenExport(headers, announced);
    const begun = { announced, overage: taken.overage, blocks: gate.take(taken) };
    await journal.append({ type: 'hydrate.export', dataset, ...begun, calls: client.calls() });
    const landed = await writeSegments(body, {
      folder,
      prefix: nameHydrationExport(journal.state.exports.ofChanged.length),
      format,
      targetBytes: SEGMENT_BYTES,
      announced,
      onBytes: () => {},
      onSegment: async ({ file, rows, bytes, fileSha256 }) => {
        await journal.append({
          ...{ type: 'hydrate.page', file, rows, end: bytes, readAt, fileSha256 },
          calls: client.calls(),
        });
        await takeOff(itemIds, path.join(folder, file), fitId);
        io.log('debug', 'landed', { what: 'hydration', rows });
        onLanded();
      },
    });
    if (landed.rows === announced) return await gate.memory.forget(name);
    throw new PricelakeError('snapshot_incomplete', `/export: ${landed.rows} of ${announced} announced rows arrived`);
  } catch (error) {
    if (isLoss(error)) await gate.memory.note(name, { rows, reason: error.message });
    if (!isBreak(error)) throw error;
    io.log('warn', 'hydration.export_cut', { reason: error.message });
  }
}

/** True if the file comes from an export. Its rows may have a different format from the rows of pages. */
export function isExportFile(file: { path: string }): boolean {
  return isHydrationExport(path.basename(file.path));
}

/** Removes the items in a file from `needed`. @param fitId recognizes the field with an item's id */
export async function takeOff(needed: IdSet, file: string, fitId: FitId): Promise<void> {
  const ids = readLandedIds(file, isExportFile({ path: file }) ? fitId : isNamedId);
  for await (const id of ids) needed.delete(id);
}
