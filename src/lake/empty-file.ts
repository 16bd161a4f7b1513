import type { DataFile } from '../tables/table.js';

/**
 * True for a file of which the log says that it has no rows; one of which it says nothing may have some. A table
 * without rows has one such file, so that globs find its columns and types.
 */
export function isEmptyFile({ stats }: Pick<DataFile, 'stats'>): boolean {
  return (JSON.parse(stats) as { numRecords?: number }).numRecords === 0;
}
