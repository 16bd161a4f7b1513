import type { Pipeline } from '../../config/pipeline.js';
import { PricelakeError } from '../../io/errors.js';
import { isEmptyFile } from '../../lake/data-file.js';
import { countRows } from '../../lake/slices.js';
import type { Stage } from '../../lake/stage.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { DataFile, TableState } from '../../tables/table.js';

/** If the lake has at most this many websites, each gets its own files. Opening this many files takes two seconds. */
const FEW_SITES = 500;
/**
 * If there are more websites, each gets its own files only if a website has this many items on average. With fewer
 * items, opening a file for each website is slower than rewriting files that websites share.
 */
const MANY_ITEMS = 1_000n;
/** The maximum number of websites with their own files. With more files, DuckDB doesn't cache footers (MANY_FILES). */
const MOST_SITES = 2_000;

/**
 * Returns the maximum number of websites with their own files, if the pipeline file sets no partitioning. If there are
 * more websites, each file holds items of many websites, sorted by website.
 */
function limitSites(items: bigint): number {
  return Math.max(FEW_SITES, Math.min(MOST_SITES, Number(items / MANY_ITEMS)));
}

/** Chooses the partitioning of items from the pipeline file, or else from the lake's files. Defaults to the website. */
export function chooseItemsLayout(
  { lake }: Pipeline,
  items: TableState,
  replaced: readonly DataFile[],
): Pick<Stage, 'partitionBy' | 'mostPartitions'> {
  const wanted = lake.tables.items?.partitionBy;
  if (wanted !== undefined) return { partitionBy: wanted };
  const present = readPartitionColumns(items);
  const isFree = present === undefined || (isBySite(present) && replaced.length === items.files.length);
  return isFree ? { mostPartitions: limitSites } : { partitionBy: present };
}

/** True if more websites have their own files than `limitSites` allows. The next full copy then rewrites all items. */
export function hasTooManySites({ lake }: Pipeline, items: TableState): boolean {
  const present = readPartitionColumns(items);
  if (lake.tables.items?.partitionBy !== undefined || present === undefined || !isBySite(present)) return false;
  const sites = new Set(items.files.map(({ partitionValues }) => partitionValues.site_id)).size;
  return sites > limitSites(countRows(items.files));
}

/** Throws if the pipeline file would change the partitioning, which must be the same in all files of a table. */
export function refuseOtherPartitions({ file, lake }: Pipeline, items: TableState): void {
  const wanted = lake.tables.items?.partitionBy;
  const present = readPartitionColumns(items);
  if (wanted === undefined || present === undefined || wanted.join() === present.join()) return;
  throw new PricelakeError(
    'config',
    `${file}: lake.tables.items.partitionBy is [${wanted.join(', ')}], but the lake has [${present.join(', ')}]`,
    { hint: 'Restore the old setting, or run `pricelake lake rebuild`.' },
  );
}

const isBySite = (columns: readonly string[]) => columns.join() === loadTableSchema('items').partitionBy.join();

/** Returns the table's partition columns, or undefined if it has no rows. */
function readPartitionColumns({ files }: TableState): string[] | undefined {
  const file = files.find((one) => !isEmptyFile(one));
  return file && Object.keys(file.partitionValues);
}
