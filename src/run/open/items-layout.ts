import type { Pipeline } from '../../config/pipeline.js';
import { PricelakeError } from '../../io/errors.js';
import { isEmptyFile } from '../../lake/data-file.js';
import { countRows } from '../../lake/slices.js';
import type { Stage } from '../../lake/stage.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { DataFile, TableState } from '../../tables/table.js';

/**
 * Up to this many websites have files of their own, however few their items. Opening this many files takes a run two
 * seconds.
 */
const FEW_SITES = 500;
/**
 * More websites have their own files if each has this many items, because rewriting shared files for one website takes
 * longer than opening a file.
 */
const MANY_ITEMS = 1_000n;
/** There are never more than this, because footers of more files are not kept in memory (src/lake/views.ts). */
const MOST_SITES = 2_000;

/**
 * The most websites with files of their own, unless the pipeline asks for it. With more, a file holds the items of many
 * websites, in the order of websites.
 */
function limitSites(items: bigint): number {
  return Math.max(FEW_SITES, Math.min(MOST_SITES, Number(items / MANY_ITEMS)));
}

/** Chooses the partitioning of items: that of the pipeline, else of the lake, else by website. */
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

/** True if more websites exist than may have own files. The next complete copy writes all items again. */
export function hasTooManySites({ lake }: Pipeline, items: TableState): boolean {
  const present = readPartitionColumns(items);
  if (lake.tables.items?.partitionBy !== undefined || present === undefined || !isBySite(present)) return false;
  const sites = new Set(items.files.map(({ partitionValues }) => partitionValues.site_id)).size;
  return sites > limitSites(countRows(items.files));
}

/** Refuses another partitioning before anything is fetched, because all files of a table have the same. */
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

/** Undefined if the table has no rows yet. */
function readPartitionColumns({ files }: TableState): string[] | undefined {
  const file = files.find((one) => !isEmptyFile(one));
  return file && Object.keys(file.partitionValues);
}
