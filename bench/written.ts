/** Counts the files that a run writes. A remote gets each of them whole, as an object. */
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Size of each file, and when it was written, by path. */
type Files = ReadonlyMap<string, { bytes: number; at: number }>;

/** The files of a lake, but for what runs leave to themselves. */
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

/** The files of a lake that are new or others than before. */
export async function countWritten(lake: string, before: Files): Promise<{ files: number; bytes: number }> {
  const written = [...(await listFiles(lake))].filter(([file, { bytes, at }]) => {
    const old = before.get(file);
    return old === undefined || old.bytes !== bytes || old.at !== at;
  });
  return { files: written.length, bytes: written.reduce((sum, [, { bytes }]) => sum + bytes, 0) };
}
