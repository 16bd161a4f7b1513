import type { Database } from '../sql/connection.js';
import { escapeGlob, quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import type { TableSchema } from '../tables/schemas.js';
import { BOUND_LENGTH, type ColumnStatistics } from './stats.js';

/** The statistics of a file's columns by their names. */
export type FileStatistics = ReadonlyMap<string, ColumnStatistics>;

/** The statistics of a column in the footer of a file, over all row groups. */
interface FooterRow {
  file: string;
  name: string;
  nulls: string | null;
  min: string | null;
  max: string | null;
  lacksBounds: boolean;
}

/**
 * The statistics of files by their paths, in DuckDB's texts. Readers may take a column without bounds for one of nulls alone
 * and skip the file, so each column with values has them. Lists have no statistics, and NaN has no bounds.
 */
export async function readStatistics(
  db: Database,
  schema: TableSchema,
  paths: readonly string[],
): Promise<ReadonlyMap<string, FileStatistics>> {
  const found = new Map(paths.map((path) => [path, new Map<string, ColumnStatistics>()]));
  if (paths.length === 0) return found;
  const rows = (await db.rows(writeFooterQuery(schema, paths))) as unknown as FooterRow[];
  const isText = new Set(schema.columns.flatMap(({ name, type }) => (type === 'VARCHAR' ? [name] : [])));
  const unbound = new Map<string, string[]>();
  for (const { file, name, nulls, min, max, lacksBounds } of rows) {
    const known = Object.entries(lacksBounds ? { null_count: nulls } : { null_count: nulls, min, max });
    found.get(file)?.set(name, new Map(known.flatMap(([key, text]) => (text === null ? [] : [[key, text]]))));
    if (lacksBounds && isText.has(name)) unbound.set(file, [...(unbound.get(file) ?? []), name]);
  }
  for (const [file, names] of unbound) await addTextBounds(db, file, names, found.get(file));
  return found;
}

/** A row for each file and column: the least and greatest value of its row groups, unless one with values lacks them. */
function writeFooterQuery({ columns }: TableSchema, paths: readonly string[]): string {
  const types = [...new Set(columns.map(({ type }) => type))].filter((type) => type !== 'VARCHAR[]');
  const findBound = (side: 'min' | 'max') =>
    `CASE type ${types.map((type) => `WHEN ${quoteLiteral(type)} THEN ${side}(TRY_CAST(stats_${side}_value AS ${type}))::VARCHAR`).join(' ')} END`;
  const typed = columns.map(({ name, type }) => `(${quoteLiteral(name)}, ${quoteLiteral(type)})`);
  const files = paths.map((path) => quoteLiteral(escapeGlob(path)));
  return `SELECT file_name AS file, path_in_schema AS name, sum(stats_null_count)::VARCHAR AS nulls,
      ${findBound('min')} AS min, ${findBound('max')} AS max,
      bool_or(stats_null_count < num_values AND (stats_min_value IS NULL OR stats_max_value IS NULL)) AS "lacksBounds"
    FROM (SELECT * EXCLUDE (type) FROM parquet_metadata([${files.join(', ')}]))
      JOIN (VALUES ${typed.join(', ')}) AS typed(path_in_schema, type) USING (path_in_schema)
    GROUP BY file_name, path_in_schema, type`;
}

/** The footer has no bounds where a long text can't be cut: their beginnings are read from the rows. */
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
