import { runSideBySide } from '../io/side-by-side.js';
import type { TableSchema } from '../tables/schemas.js';
import type { DataFile } from '../tables/table.js';
import { FILE } from './parquet-footer.js';
import { type ParquetFile, readParquet } from './splice-file.js';
import type { TableRows } from './table-rows.js';

/** Rows of a row group of tables of which few rows change. Smaller ones save little and make footers long. */
export const GROUP_ROWS = 8192;

/** A file that can be spliced. */
export interface Candidate {
  file: DataFile;
  path: string;
  groups: GroupFacts[];
}

/** A row group: its rows, by their numbers in the file, and bytes of its columns by their names. */
interface GroupFacts {
  group: number;
  first: number;
  last: number;
  bytes: ReadonlyMap<string, number>;
}

/**
 * A statement for a row group, and its place in the new file, take as long as encoding so many bytes: 8 ms against 20 ns a
 * byte. Tables with many texts take 65 ns a byte.
 */
export const GROUP_COST_BYTES = 400_000;

const FILES_AT_ONCE = 8;

/** True if splices of the files would cost less, with the keys that go anywhere in them. It spares most plans in vain. */
export function areLikelyCheaper(files: readonly DataFile[], gone: number): boolean {
  const groups = files.reduce((sum, { rows }) => sum + Math.ceil(Number(rows) / GROUP_ROWS), 0);
  const touched = groups * (1 - Math.exp(-gone / groups));
  return touched * GROUP_COST_BYTES < files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * Those with more than one row group, and with the columns of the contract. Another version of DuckDB may describe columns
 * otherwise: what it wrote is written whole.
 * @param version DuckDB's own, such as `v1.5.6`
 */
export async function findCandidates(
  before: TableRows,
  schema: TableSchema,
  files: readonly DataFile[],
  version: string,
): Promise<Candidate[]> {
  const found = await runSideBySide(FILES_AT_ONCE, files, async (file) => {
    const path = before.placeOf(file);
    const read = await readParquet(path).catch(() => undefined);
    const isFit =
      read !== undefined && isBy(version, read) && hasColumns(read, schema) && read.footer.groups.length > 1;
    return isFit ? { file, path, groups: describeGroups(read) } : undefined;
  });
  return found.filter((one) => one !== undefined);
}

function isBy(version: string, { footer }: ParquetFile): boolean {
  return String(footer.tree.get(FILE.createdBy)?.value).includes(version);
}

function hasColumns({ footer }: ParquetFile, { columns }: TableSchema): boolean {
  const names = footer.groups[0]?.chunks.map(({ name }) => name.split('.')[0]);
  return names?.join() === columns.map(({ name }) => name).join();
}

function describeGroups({ footer }: ParquetFile): GroupFacts[] {
  let next = 0;
  return footer.groups.map(({ rows, chunks }, group) => {
    const bytes = new Map<string, number>();
    for (const { name, start, end } of chunks) bytes.set(name.split('.')[0] as string, end - start);
    const first = next;
    next += rows;
    return { group, first, last: next - 1, bytes };
  });
}
