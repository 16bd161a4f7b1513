/** Counts the files that a run writes. A remote receives each of them as a whole object. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** The size and modification time of each file, keyed by path. */
type Files = ReadonlyMap<string, { bytes: number; at: number }>;

/** Lists the files of a lake, except those in the work folder. */
export async function listFiles(lake: string): Promise<Files> {
  const files = new Map<string, { bytes: number; at: number }>();
  const entries = await readdir(lake, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || file.startsWith(path.join(lake, '_pricelake', 'work'))) continue;
    const { size, mtimeMs } = await stat(file);
    files.set(file, { bytes: size, at: mtimeMs });
  }
  return files;
}

/** Counts the files of a lake that are new or have changed. */
export async function countWritten(lake: string, before: Files): Promise<{ files: number; bytes: number }> {
  const written = [...(await listFiles(lake))].filter(([file, { bytes, at }]) => {
    const old = before.get(file);
    return old === undefined || old.bytes !== bytes || old.at !== at;
  });
  return { files: written.length, bytes: written.reduce((sum, [, { bytes }]) => sum + bytes, 0) };
}
