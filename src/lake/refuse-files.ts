import { stat } from 'node:fs/promises';
import { ignoreMissing, isBelow } from '../tables/layout.js';

/**
 * Says why files that a worker names can't be its result: one is elsewhere, is not as large here, or rows are missing.
 * @param rows the rows of all files together, where the run knows them
 */
export async function refuseFiles(
  files: readonly { path: string; rows: bigint; bytes: number }[],
  { folder, rows }: { folder: string; rows: bigint | undefined },
): Promise<string | undefined> {
  for (const { path, bytes } of files) {
    if (!isBelow(folder, path)) return `${path} is not in ${folder}`;
    const found = await stat(path).catch(ignoreMissing);
    if (found === undefined) return `${path} is not there`;
    if (found.size !== bytes) return `${path} has ${found.size} bytes here, and ${bytes} by the worker`;
  }
  const written = files.reduce((sum, file) => sum + file.rows, 0n);
  return rows === undefined || rows === written ? undefined : `it has ${written} rows, and the run counted ${rows}`;
}
