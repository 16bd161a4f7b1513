import type { Database } from '../sql/connection.js';
import { escapeGlob, quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import type { Column, TableSchema } from '../tables/schemas.js';
import { BOUND_LENGTH, type ColumnStatistics } from './stats.js';

export type FileStatistics = ReadonlyMap<string, ColumnStatistics>;

/** The statistics of a column in one row group, or combined for all row groups of a file. */
interface GroupRow {
  file: string;
  name: string;
  nulls: bigint | null;
  min: string | null;
  max: string | null;
  lacksBounds: boolean | null;
}

/**
 * Reads the statistics that DuckDB wrote into files, by file path. If DuckDB stored no bounds for a text column,
 * computes them from the rows. Otherwise, some readers would assume that all values are null, and skip the file. Lists
 * get no statistics.
 */
export async function readStatistics(
  db: Database,
  schema: TableSchema,
  paths: readonly string[],
): Promise<ReadonlyMap<string, FileStatistics>> {
  const found = new Map(paths.map((path) => [path, new Map<string, ColumnStatistics>()]));
  if (paths.length === 0) return found;
  const types = new Map(schema.columns.map(({ name, type }) => [name, type]));
  const rows = (await db.rows(writeFooterQuery(schema, paths))) as unknown as GroupRow[];
  const unbound = new Map<string, string[]>();
  for (const { file, name, nulls, min, max, lacksBounds } of joinGroups(rows, types)) {
    const known = Object.entries(lacksBounds ? { null_count: nulls } : { null_count: nulls, min, max });
    found
      .get(file)
      ?.set(name, new Map(known.flatMap(([key, value]) => (value === null ? [] : [[key, String(value)]]))));
    if (lacksBounds && types.get(name) === 'VARCHAR') unbound.set(file, [...(unbound.get(file) ?? []), name]);
  }
  for (const [file, names] of unbound) await addTextBounds(db, file, names, found.get(file));
  return found;
}

/** Builds a query for one row per row group and column. DuckDB takes long to plan a query that combines row groups. */
function writeFooterQuery({ columns }: TableSchema, paths: readonly string[]): string {
  const names = columns.flatMap(({ name, type }) => (type === 'VARCHAR[]' ? [] : [quoteLiteral(name)]));
  const files = paths.map((path) => quoteLiteral(escapeGlob(path)));
  return `SELECT file_name AS file, path_in_schema AS name, stats_null_count AS nulls,
      stats_min_value AS min, stats_max_value AS max,
      stats_null_count < num_values AND (stats_min_value IS NULL OR stats_max_value IS NULL) AS "lacksBounds"
    FROM parquet_metadata([${files.join(', ')}]) WHERE path_in_schema IN (${names.join(', ')})`;
}

/** Combines the row groups of each file into the smallest minimum, largest maximum and null count of each column. */
function joinGroups(rows: readonly GroupRow[], types: ReadonlyMap<string, Column['type']>): Iterable<GroupRow> {
  const joined = new Map<string, GroupRow>();
  for (const row of rows) {
    const key = `${row.name} ${row.file}`;
    const before = joined.get(key);
    if (before === undefined) {
      joined.set(key, row);
      continue;
    }
    const isBelow = ORDERS[types.get(row.name) ?? 'VARCHAR'];
    before.nulls = before.nulls === null ? row.nulls : before.nulls + (row.nulls ?? 0n);
    before.lacksBounds ||= row.lacksBounds;
    if (before.min === null || (row.min !== null && isBelow(row.min, before.min))) before.min = row.min;
    if (before.max === null || (row.max !== null && isBelow(before.max, row.max))) before.max = row.max;
  }
  return joined.values();
}

type IsBelow = (a: string, b: string) => boolean;

const bytesBelow: IsBelow = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;

/** Compares times in DuckDB's text format. Sorts BC before, and `infinity` and longer years after, four-digit years. */
const timeBelow: IsBelow = (a, b) => (eraOf(a) === eraOf(b) ? a < b : eraOf(a) < eraOf(b));
const eraOf = (text: string) => (/^-|\(BC\)/.test(text) ? -1 : /^\d{4}-/.test(text) ? 0 : 1);

/** For each column type, a function that compares two values in DuckDB's text format. */
const ORDERS: Readonly<Record<Column['type'], IsBelow>> = {
  BIGINT: (a, b) => BigInt(a) < BigInt(b),
  // All decimals have four digits after the point, so they can be compared as integers.
  'DECIMAL(18,4)': (a, b) => BigInt(a.replace('.', '')) < BigInt(b.replace('.', '')),
  DOUBLE: (a, b) => Number(a) < Number(b),
  DATE: timeBelow,
  'TIMESTAMP WITH TIME ZONE': timeBelow,
  BOOLEAN: bytesBelow,
  VARCHAR: bytesBelow,
  'VARCHAR[]': bytesBelow,
};

/** Computes the bounds of text columns from the rows. DuckDB stores no bounds if it can't truncate a long text. */
async function addTextBounds(
  db: Database,
  path: string,
  names: readonly string[],
  found: Map<string, ColumnStatistics> | undefined,
): Promise<void> {
  const bounds = names.flatMap((name, index) =>
    ['min', 'max'].map((side) => `${side}(left(${quoteIdentifier(name)}, ${BOUND_LENGTH})) AS ${side}_${index}`),
  );
  const row = await db.row(`SELECT ${bounds.join(', ')} FROM read_parquet(${quoteLiteral(escapeGlob(path))})`);
  for (const [index, name] of names.entries()) {
    const sides = ['min', 'max'].map((side) => [side, String(row?.[`${side}_${index}`])] as const);
    found?.set(name, new Map([...(found.get(name) ?? []), ...sides]));
  }
}
