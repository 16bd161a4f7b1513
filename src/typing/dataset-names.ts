import type { RelationGraph } from '../sql/graph.js';
import type { Relation } from '../sql/relation.js';
import { code, sql, writeTyped } from '../sql/sql.js';

/** The first character of a list of dataset names that isn't split yet: a private-use character, like NUMBER_MARK. */
export const NAMES_MARK = '\uE0F2';

/** The maximum length of a pattern. A longer pattern is rebuilt with only the names that contain a separator. */
const MAX_PATTERN = 100_000;

/**
 * Builds the pattern with which the SQL macro `dataset_names` splits a list of names. Returns null if no name is known.
 * Without the known names, `Tools; Garden` could be one dataset or two.
 */
export function writeDatasetPattern(names: readonly string[]): string | null {
  const known = [...new Set(names)].filter((name) => name.trim() !== '').sort((a, b) => b.length - a.length);
  if (known.length === 0) return null;
  const pattern = writePattern(known);
  return pattern.length <= MAX_PATTERN ? pattern : writePattern(known.filter((name) => /[;|,]/.test(name)));
}

/** Builds a regular expression for text with doubled separators. It matches a known name between separators. */
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

/** Reads the dataset names that earlier runs recorded. @param datasets rows of the datasets table */
export async function readKnownDatasets(graph: RelationGraph, datasets: Relation): Promise<DatasetName[]> {
  const rows = await graph.rows(sql`SELECT dataset_id AS id, name FROM ${datasets}`);
  return rows.map(({ id, name }) => ({ id: id as bigint, name: String(name) }));
}

/** The names of datasets. `readable` lists the datasets that the API key can read; undefined if it can read all. */
export interface DatasetNames {
  readable: readonly string[] | undefined;
  byId: ReadonlyMap<bigint, readonly string[]>;
}

/**
 * Lists the names of datasets. This includes former names, because rows in the lake may still contain them.
 * @param isAll true if no item can be in any other dataset
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
 * Finds datasets whose name has changed since the lake recorded it. Omits a former name that another dataset also has,
 * because a row with this name may mean either dataset. The next complete copy corrects these rows.
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
