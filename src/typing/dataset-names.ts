import type { RelationGraph } from '../sql/graph.js';
import type { Relation } from '../sql/relation.js';
import { code, sql, writeTyped } from '../sql/sql.js';

/** Marks a text that lists datasets and must still be split: a private-use character, as NUMBER_MARK is. */
export const NAMES_MARK = '\uE0F2';

/** A longer pattern is too slow. It is then limited to names that contain a separator. */
const MAX_PATTERN = 100_000;

/**
 * Writes the pattern by which the macro `dataset_names` finds known names in a text; null without known names. Only
 * they show whether `Tools; Garden` is one dataset or two.
 */
export function writeDatasetPattern(names: readonly string[]): string | null {
  const known = [...new Set(names)].filter((name) => name.trim() !== '').sort((a, b) => b.length - a.length);
  if (known.length === 0) return null;
  const pattern = writePattern(known);
  return pattern.length <= MAX_PATTERN ? pattern : writePattern(known.filter((name) => /[;|,]/.test(name)));
}

/** Matches a known name between separators, in a text whose separators are doubled. */
function writePattern(names: readonly string[]): string {
  const texts = names.map((name) =>
    name
      .trim()
      .replaceAll(/[;|,]/g, '$&$&')
      .replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
  );
  return `(?:^|[;|,])\\s*(${texts.join('|')})\\s*(?:[;|,]|$)`;
}

export interface DatasetName {
  id: bigint;
  name: string;
}

/** The datasets as the last run recorded them. @param datasets rows of table datasets */
export async function readKnownDatasets(graph: RelationGraph, datasets: Relation): Promise<DatasetName[]> {
  const rows = await graph.rows(sql`SELECT dataset_id AS id, name FROM ${datasets}`);
  return rows.map(({ id, name }) => ({ id: id as bigint, name: String(name) }));
}

/** Names of datasets as items write them: those that can be read (undefined for all), and by id. */
export interface DatasetNames {
  readable: readonly string[] | undefined;
  byId: ReadonlyMap<bigint, readonly string[]>;
}

/**
 * Lists the names of datasets. Rows of the lake may still use a former name.
 * @param isAll true if items can be in no other dataset
 */
export function listDatasetNames(
  visible: readonly DatasetName[],
  known: readonly DatasetName[],
  isAll: boolean,
): DatasetNames {
  const byId = new Map<bigint, string[]>();
  for (const { id, name } of visible) {
    const before = known.filter((one) => one.id === id).map((one) => one.name);
    byId.set(id, [...new Set([name, ...before])]);
  }
  return { readable: isAll ? undefined : [...byId.values()].flat(), byId };
}

export interface DatasetRename {
  former: string;
  name: string;
}

/**
 * Finds datasets whose name in the lake is not the current one. A former name that another dataset shares is left out:
 * rows don't show which of the two they mean, so they wait for a complete copy.
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

export function loadRenames(graph: RelationGraph, renamed: readonly DatasetRename[]): Relation {
  const names = (pick: (rename: DatasetRename) => string) => writeTyped('VARCHAR[]', renamed.map(pick));
  const former = code(names((one) => one.former));
  return graph.table(
    'renamed_datasets',
    sql`SELECT unnest(${former}) AS former, unnest(${code(names((one) => one.name))}) AS name`,
  );
}
