import type { Database } from '../duckdb/connection.js';

/** A dataset's id and its name. */
export interface DatasetName {
  id: bigint;
  name: string;
}

/** Names that rows of the lake give a dataset, and that it has now. */
export interface DatasetRename {
  former: string;
  name: string;
}

/**
 * Datasets that the lake knows by another name than the service now. Where another dataset had the former name, or has it
 * and is not known to the lake, rows don't show which of the two they are of: they wait for a complete copy.
 */
export function findRenamedDatasets(known: readonly DatasetName[], visible: readonly DatasetName[]): DatasetRename[] {
  const isKnown = ({ id }: DatasetName) => known.some((one) => one.id === id);
  const held = [...known, ...visible.filter((one) => !isKnown(one))];
  return known.flatMap(({ id, name: former }) => {
    const now = visible.find((one) => one.id === id);
    if (now === undefined || now.name === former) return [];
    const isShared = held.some((other) => other.id !== id && other.name === former);
    return isShared ? [] : [{ former, name: now.name }];
  });
}

/** Table `renamed_datasets`, which `createMergeBase` and model `apply` read. */
export async function createRenamedDatasets(db: Database, renamed: readonly DatasetRename[]): Promise<void> {
  await db.run(
    `CREATE OR REPLACE TABLE renamed_datasets AS
    SELECT r.former, r.name FROM (SELECT unnest(from_json($1, '[{"former": "VARCHAR", "name": "VARCHAR"}]')) AS r)`,
    [JSON.stringify(renamed)],
  );
}
