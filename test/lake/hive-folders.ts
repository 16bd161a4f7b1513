import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** `site_id-12.0198….parquet` → `site_id=12/0198….parquet`. */
const inFolder = (name: string) =>
  name.replace(/^((?:[a-z_]+-[^.]*\.)+)(?=[^.]+\.parquet$)/, (label) =>
    label.replaceAll(/([a-z_]+)-([^.]*)\./g, '$1=$2/'),
  );

/** Lays a lake out as older versions did: files in folders named by their partitions, in the logs and on disk. */
export async function useHiveFolders(root: string): Promise<void> {
  for (const table of ['items', 'history']) {
    const folder = path.join(root, table);
    for (const name of await readdir(folder)) {
      if (!name.endsWith('.parquet') || inFolder(name) === name) continue;
      await mkdir(path.join(folder, path.dirname(inFolder(name))), { recursive: true });
      await rename(path.join(folder, name), path.join(folder, inFolder(name)));
    }
    const log = path.join(folder, '_delta_log');
    for (const name of await readdir(log)) await editPaths(path.join(log, name), '"path":"');
  }
  for (const table of ['items', 'history']) {
    await editPaths(path.join(root, 'lake.json'), `"path": "${table}/`);
    await editPaths(path.join(root, 'catalog.sql'), `'${table}/`);
  }
}

async function editPaths(file: string, before: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const edited = text.split(before).map((part, i) => (i === 0 ? part : part.replace(/^[^"']+/, inFolder)));
  await writeFile(file, edited.join(before));
}
