import path from 'node:path';
import type { IsId } from '../formats/row-id.js';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { isHydrationExport, nameHydrationExport } from '../journal/exports.js';
import type { Landing } from '../journal/landings.js';
import { changedExport, isBreak, isLoss } from '../plan/broken-exports.js';
import { type ExportGate, readTakenExport } from '../plan/export-gate.js';
import type { DatasetPart } from './dataset-client.js';
import { readExportRows } from './export-rows.js';
import { readLandedIds } from './landed-ids.js';
import type { ExportFormat } from './row-scanner.js';
import { writeSegments } from './segment-writer.js';

const SEGMENT_BYTES = 48 * 1024 * 1024;

/** How exports are asked for, and where their rows have the item's id. */
export interface AskedExport {
  format: ExportFormat;
  isId: IsId;
  gate: ExportGate;
}

/**
 * Lands an export of the items that changed since a time (section 4, /export with `changedSince`), and takes what it
 * holds off `itemIds`. One that breaks off or was cut is no loss but of its rows: what it lacks is read in other ways.
 * `onLanded` is told of each file, while the rest is on its way.
 */
export async function landHydrationExport(
  { client, dataset }: DatasetPart,
  landing: Landing,
  { itemIds, changedSince }: { itemIds: Set<bigint>; changedSince: string },
  { format, isId, gate }: AskedExport,
  onLanded: () => void,
  io: Io,
): Promise<void> {
  const { journal, folder } = landing;
  const remembered = changedExport(gate.memory, dataset);
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
        await takeOff(itemIds, path.join(folder, file), isId);
        io.log('debug', 'landed', { what: 'hydration', rows });
        onLanded();
      },
    });
    if (landed.rows === announced) return await remembered.forget();
    throw new PricelakeError('snapshot_incomplete', `/export: ${landed.rows} rows arrived of ${announced} announced`);
  } catch (error) {
    if (isLoss(error)) await remembered.note({ rows, reason: error.message });
    if (!isBreak(error)) throw error;
    io.log('warn', 'hydration.export_cut', { reason: error.message });
  }
}

/** Rows of exports may be shaped in another way than those of pages. */
export function isExportFile(file: { path: string }): boolean {
  return isHydrationExport(path.basename(file.path));
}

/** Takes the items of a landed file off the needed ones; `isId` says where rows of exports have the id. */
export async function takeOff(needed: Set<bigint>, file: string, isId: IsId): Promise<void> {
  const ids = readLandedIds(file, isExportFile({ path: file }) ? isId : (name) => name === 'id');
  for await (const id of ids) needed.delete(id);
}
