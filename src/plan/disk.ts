import { formatBytes } from '../formats/bytes.js';
import { countOf } from '../formats/count.js';
import { PricelakeError } from '../io/errors.js';
import { readFreeBytes } from '../io/machine.js';

/** The known number of items and changes that a run still has to download. */
export interface RowsAhead {
  items: bigint;
  changes: bigint;
}

/**
 * The disk space in bytes that a run needs for each row at its peak, besides the existing lake. It holds raw data,
 * typed rows, temporary files of DuckDB, and new table files. Benchmarks measured 2.2 kB for an item, and 1.3 to 3.4 kB
 * for a change with a full read of its item (bench/README.md, "Disk"). The constants add a safety margin.
 */
const BYTES_OF_ITEM = 3_000;
const BYTES_OF_CHANGE = 4_000;

/** Returns the disk space in bytes that a run needs, besides the existing lake. */
export function countDisk({ items, changes }: RowsAhead): number {
  return Number(items) * BYTES_OF_ITEM + Number(changes) * BYTES_OF_CHANGE;
}

/** Returns an error if a run doesn't fit on the disk of `path`, or undefined if it fits. */
export function refuseDisk(path: string, free: number, ahead: RowsAhead): PricelakeError | undefined {
  const needed = countDisk(ahead);
  if (needed <= free) return undefined;
  const rows = [countOf(ahead.items, 'item'), countOf(ahead.changes, 'change')].join(' and ');
  const what = `${path}: ${formatBytes(free)} free, but a run of ${rows} needs about ${formatBytes(needed)}`;
  return new PricelakeError('disk_full', what, {
    freeBytes: free,
    neededBytes: needed,
    hint: 'Free up that much space or move the lake to a larger disk, then run the same command again.',
  });
}

/** Throws if there isn't enough free disk space. @throws PricelakeError `disk_full` */
export async function requireDisk(path: string, ahead: RowsAhead): Promise<void> {
  const refusal = refuseDisk(path, await readFreeBytes(path), ahead);
  if (refusal !== undefined) throw refusal;
}
