import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

interface Add {
  path: string;
  partitionValues: Record<string, string | null>;
  stats: string;
}

/** A table as another program reads it: the log's JSON commits alone, by the protocol. */
export interface DeltaTable {
  /** Absolute paths of the files that are in the version. */
  files: string[];
  /** Rows as the statistics of the files say. */
  rows: number;
  /** Absolute path → partition values as the log has them. */
  partitionValues: Map<string, Record<string, string | null>>;
  partitionColumns: string[];
}

/** Replays `_delta_log` up to a version; knows nothing of how it was written. */
export async function readDeltaTable(folder: string, upTo = Number.POSITIVE_INFINITY): Promise<DeltaTable> {
  const log = path.join(folder, '_delta_log');
  const adds = new Map<string, Add>();
  let partitionColumns: string[] = [];
  for (const name of (await readdir(log)).filter((name) => /^\d{20}\.json$/.test(name)).sort()) {
    if (Number.parseInt(name, 10) > upTo) break;
    for (const line of (await readFile(path.join(log, name), 'utf8')).trimEnd().split('\n')) {
      const action = JSON.parse(line) as {
        add?: Add;
        remove?: { path: string };
        metaData?: { partitionColumns: string[] };
      };
      if (action.add !== undefined) adds.set(action.add.path, action.add);
      if (action.remove !== undefined) adds.delete(action.remove.path);
      partitionColumns = action.metaData?.partitionColumns ?? partitionColumns;
    }
  }
  const resolve = (add: Add) => path.join(folder, decodeURIComponent(add.path));
  return {
    files: [...adds.values()].map(resolve),
    rows: [...adds.values()].reduce(
      (sum, add) => sum + (JSON.parse(add.stats) as { numRecords: number }).numRecords,
      0,
    ),
    partitionValues: new Map([...adds.values()].map((add) => [resolve(add), add.partitionValues])),
    partitionColumns,
  };
}
