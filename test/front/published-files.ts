import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Pointer {
  tables: Record<string, { files: { path: string }[] }>;
}

/** Table → absolute paths of its files, by what lake.json says: no code of the lake's own reads it. */
export function listPublishedFiles(lakePath: string): Map<string, string[]> {
  const { tables } = JSON.parse(readFileSync(path.join(lakePath, 'lake.json'), 'utf8')) as Pointer;
  return new Map(
    Object.entries(tables).map(([table, { files }]) => [table, files.map((file) => path.join(lakePath, file.path))]),
  );
}
