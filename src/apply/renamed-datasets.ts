import type { RelationGraph } from '../sql/graph.js';
import type { Relation } from '../sql/relation.js';
import { code, sql, writeTyped } from '../sql/sql.js';

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

/** The renames as rows. */
export function loadRenames(graph: RelationGraph, renamed: readonly DatasetRename[]): Relation {
  const names = (pick: (rename: DatasetRename) => string) => writeTyped('VARCHAR[]', renamed.map(pick));
  const former = code(names((one) => one.former));
  return graph.table(
    'renamed_datasets',
    sql`SELECT unnest(${former}) AS former, unnest(${code(names((one) => one.name))}) AS name`,
  );
}
