import type { TableName } from '../tables/table.js';
import { type Lake, tablePath } from './layout.js';
import type { Pointer } from './pointer.js';

/** A table as its log says it is. */
interface Logged {
  table: TableName;
  version: bigint;
  /** Paths of its files, relative to its folder. */
  paths: Iterable<string>;
}

/** How a log fell behind what lake.json says was published, in words: entries that are gone, or cut between two lines. */
export function explainBehind(lake: Lake, logged: Logged, pointer: Pointer | undefined): string | undefined {
  const published = pointer?.tables[logged.table];
  if (published === undefined || published.version < logged.version) return undefined;
  const where = tablePath(lake, logged.table);
  if (published.version > logged.version) {
    return `${where}: its log ends at version ${logged.version}, lake.json names version ${published.version}`;
  }
  const named = new Set(published.files.map(({ path }) => path));
  const paths = [...logged.paths].map((path) => `${logged.table}/${path}`);
  if (paths.length === named.size && paths.every((path) => named.has(path))) return undefined;
  return `${where}: version ${logged.version} of its log has ${paths.length} files, lake.json names ${named.size}, or others`;
}
