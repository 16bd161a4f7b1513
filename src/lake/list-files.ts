import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { ignoreMissing } from '../io/errors.js';

/** Lists the absolute paths of all files below a folder. The list is empty if the folder is missing. */
export async function listFilesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(ignoreMissing);
  return (entries ?? []).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Lists the paths of a table's Parquet files, within its folder. Skips names that start with `_` or `.`. */
export async function listDataFiles(folder: string): Promise<string[]> {
  const paths = (await listFilesBelow(folder)).map((path) => relative(folder, path).split(sep).join('/'));
  return paths.filter((path) => path.endsWith('.parquet') && !/^[_.]/.test(path));
}
