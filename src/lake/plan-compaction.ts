import type { TableSchema } from '../tables/schemas.js';
import type { DataFile } from '../tables/table.js';
import { TARGET_BYTES } from './slices.js';
import { groupFiles } from './table-change.js';

/** If a partition has more small files than this, a sync compacts the table. */
export const MANY_FILES = 16;

/**
 * Chooses the small files to merge in each partition. In the partition of the current day, merges files only if there
 * are many, because later runs will add more rows.
 */
export function planCompaction(
  schema: TableSchema,
  files: readonly DataFile[],
  at: Date,
  targetBytes = TARGET_BYTES,
): DataFile[] {
  const today = at.toISOString().slice(0, 10);
  const isOver = (file: DataFile) =>
    Object.entries(file.partitionValues).every(
      ([name, value]) => !isDay(schema, name) || value === null || value < today,
    );
  return groupSmallFiles(files, targetBytes).flatMap((group) => {
    const [first] = group;
    const least = first === undefined || isOver(first) ? 2 : MANY_FILES + 1;
    return group.length < least ? [] : takeUpToTarget(group, targetBytes);
  });
}

/** True if a partition has so many small files that reading it is slow. */
export function isCompactionDue(files: readonly DataFile[], targetBytes = TARGET_BYTES): boolean {
  return groupSmallFiles(files, targetBytes).some((group) => group.length > MANY_FILES);
}

function isDay(schema: TableSchema, column: string): boolean {
  return schema.columns.find(({ name }) => name === column)?.type === 'DATE';
}

/** Divides a rewrite into passes. Each pass creates at most one new file in each partition. */
export function planRewrite(files: readonly DataFile[], targetBytes = TARGET_BYTES): DataFile[][] {
  const passes: DataFile[][] = [];
  for (let rest = [...files]; rest.length > 0; ) {
    const pass = groupFiles(rest).flatMap((group) => takeUpToTarget(group, targetBytes, 1));
    passes.push(pass);
    rest = rest.filter((file) => !pass.includes(file));
  }
  return passes;
}

function groupSmallFiles(files: readonly DataFile[], targetBytes: number): DataFile[][] {
  return groupFiles(files.filter(({ bytes }) => bytes < targetBytes / 2));
}

/** Takes the smallest files until their total would exceed the target size, but takes at least `least` files. */
function takeUpToTarget(group: DataFile[], targetBytes: number, least = 2): DataFile[] {
  const taken: DataFile[] = [];
  let bytes = 0;
  for (const file of [...group].sort((a, b) => a.bytes - b.bytes)) {
    if (bytes + file.bytes > targetBytes && taken.length >= least) break;
    taken.push(file);
    bytes += file.bytes;
  }
  return taken;
}
