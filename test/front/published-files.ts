import { readFileSync } from 'node:fs';
import path from 'node:path';

interface Pointer {
  tables: Record<string, { files: { path: string }[] }>;
}

/** For each table, the absolute paths of its files according to lake.json, read without the product's own code. */
export function listPublishedFiles(lakePath: string): Map<string, string[]> {
  const { tables } = JSON.parse(readFileSync(path.join(lakePath, 'lake.json'), 'utf8')) as Pointer;
  return new Map(
    Object.entries(tables).map(([table, { files }]) => [table, files.map((file) => path.join(lakePath, file.path))]),
  );
}
