import { FEW_ROWS, type RelationGraph } from '../sql/graph.js';
import { escapeGlob, quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import type { Relation } from '../sql/relation.js';
import { code, columnsOf, join, type Sql, sql } from '../sql/sql.js';
import { loadTableSchema, type TableSchema } from '../tables/schemas.js';
import type { DataFile, TableName } from '../tables/table.js';
import { isForeignFile } from './data-file.js';
import { areLikelyCheaper, type Candidate, findCandidates, GROUP_COST_BYTES, GROUP_ROWS } from './splice-candidates.js';
import { listPartitions, type PartitionKey, selectPartition } from './table-partitions.js';
import type { TableRows } from './table-rows.js';

/** A published file of which some row groups get other values. All other bytes of its columns are copied. */
export interface Splice {
  readonly file: DataFile;
  readonly path: string;
  readonly groups: readonly GroupChange[];
}

/** New values of a row group: of all its columns, or of some, with the rows as they are and in their order. */
export interface GroupChange {
  readonly group: number;
  readonly isWhole: boolean;
  readonly rows: Sql;
}

/** The splices, and the rows that they leave to write. */
export interface SplicePlan {
  /** One without row groups is of a file whose rows stay as they are. */
  splices: Splice[];
  /** The added rows that no splice takes. */
  added: Sql;
}

/** Rows that are replaced (src/lake/table-change.ts). */
interface Replaced {
  key: string;
  gone: Relation;
  stored: Relation | undefined;
  added: Sql;
}

/** Rows that go and come, by their places in the files. */
interface Moves {
  stored: Relation;
  /** New rows of which the table has one with the same key in the same partition: these keep its place. */
  updated: Relation;
  removed: Relation;
  inserted: Relation;
}

/**
 * Plans to splice those of some files that are large. Undefined if no splice is possible, or none is cheaper.
 */
export async function planSplices(
  graph: RelationGraph,
  before: TableRows,
  { files, ...rows }: Replaced & { files: readonly DataFile[] },
): Promise<SplicePlan | undefined> {
  const large = files.filter((file) => file.rows > GROUP_ROWS && !isForeignFile(file));
  if (large.length === 0 || before.hasOlderFiles) return undefined;
  const gone = await graph.count(rows.gone);
  if (gone > FEW_ROWS || !areLikelyCheaper(large, Number(gone))) return undefined;
  const schema = loadTableSchema(before.table);
  const version = await graph.row(sql`SELECT version() AS duckdb`);
  const candidates = await findCandidates(before, schema, large, String(version?.duckdb));
  if (candidates.length === 0) return undefined;
  const moves = await findMoves(graph, before, candidates, rows);
  if (moves === undefined) return undefined;
  const takers = await findTakers(graph, candidates, files, moves.inserted);
  const changed = await findChangedGroups(graph, schema, candidates, moves);
  const splices = candidates.flatMap((candidate) => {
    const taken = takers.get(candidate);
    const changes = listChanges(candidate, changed.get(candidate.path) ?? new Map(), taken !== undefined);
    return isCheaper(candidate, changes) ? [describeSplice(schema, candidate, changes, { ...moves, taken })] : [];
  });
  return splices.length === 0 ? undefined : { splices, added: selectLeft(before.table, splices, takers, moves) };
}

/** The added rows that no splice takes. */
function selectLeft(
  table: TableName,
  splices: readonly Splice[],
  takers: ReadonlyMap<Candidate, PartitionKey>,
  { updated, inserted }: Moves,
): Sql {
  const spliced = new Set(splices.map(({ path }) => path));
  const taken = [...takers].flatMap(([{ path }, partition]) => (spliced.has(path) ? [partition] : []));
  const free = taken.map((partition) => sql`NOT ${selectPartition(partition)}`);
  const paths = splices.map(({ path }) => quoteLiteral(path)).join(', ');
  return sql`SELECT ${columnsOf(table)} FROM ${inserted} WHERE ${join([sql`true`, ...free], ' AND ')}
    UNION ALL SELECT ${columnsOf(table)} FROM ${updated} WHERE filename NOT IN (${code(paths)})`;
}

async function findMoves(
  graph: RelationGraph,
  before: TableRows,
  candidates: readonly Candidate[],
  { key, gone, stored: known, added }: Replaced,
): Promise<Moves | undefined> {
  const { table } = before;
  const schema = loadTableSchema(table);
  const files = candidates.map(({ file }) => file);
  const rows = known ?? before.ofFiles(files, { places: true });
  const paths = code(candidates.map(({ path }) => quoteLiteral(path)).join(', '));
  const stored = graph.table(
    `places_${table}`,
    sql`SELECT * FROM ${rows} SEMI JOIN ${gone} USING (${code(key)}) WHERE filename IN (${paths})`,
  );
  const own = [...schema.key, ...Object.keys(files[0]?.partitionValues ?? {})];
  const same = own.map((name) => `new.${quoteIdentifier(name)} = old.${quoteIdentifier(name)}`).join(' AND ');
  const news = graph.table(`news_${table}`, sql`SELECT ${columnsOf(table)} FROM (${added})`);
  const updated = graph.table(
    `updates_${table}`,
    sql`SELECT new.*, old.filename, old.file_row_number FROM ${news} AS new JOIN ${stored} AS old ON ${code(same)}`,
  );
  const [twice] = await graph.rows(
    sql`SELECT 1 FROM ${updated} GROUP BY filename, file_row_number HAVING count(*) > 1
      UNION ALL SELECT 1 FROM ${updated} GROUP BY ${code(schema.key.map(quoteIdentifier).join(', '))} HAVING count(*) > 1
      LIMIT 1`,
  );
  if (twice !== undefined) return undefined;
  const keys = code(schema.key.map(quoteIdentifier).join(', '));
  return {
    stored,
    updated,
    removed: graph.table(
      `leavers_${table}`,
      sql`SELECT filename, file_row_number FROM ${stored} ANTI JOIN ${updated} USING (filename, file_row_number)`,
    ),
    inserted: graph.table(`joiners_${table}`, sql`SELECT * FROM ${news} ANTI JOIN ${updated} USING (${keys})`),
  };
}

/** The smallest candidate of each partition that gets rows, unless another file of it is written again anyway. */
async function findTakers(
  graph: RelationGraph,
  candidates: readonly Candidate[],
  files: readonly DataFile[],
  inserted: Relation,
): Promise<Map<Candidate, PartitionKey>> {
  const names = Object.keys(candidates[0]?.file.partitionValues ?? {});
  const partitions = await listPartitions(graph, names, sql`FROM ${inserted}`);
  const keyOf = (file: DataFile) => JSON.stringify(Object.values(file.partitionValues));
  const spliced = new Set(candidates.map(({ file }) => file));
  const written = new Set(files.filter((file) => !spliced.has(file)).map(keyOf));
  const takers = new Map<Candidate, PartitionKey>();
  for (const partition of partitions) {
    const ownKey = JSON.stringify(partition.map(({ text }) => text));
    const [taker] = candidates
      .filter(({ file }) => keyOf(file) === ownKey && !written.has(ownKey))
      .sort((a, b) => a.file.bytes - b.file.bytes);
    if (taker !== undefined) takers.set(taker, partition);
  }
  return takers;
}

/** The columns of a row group that become different; `all` if rows go. */
type ChangedColumns = 'all' | string[];

/** By path and number of row group. */
async function findChangedGroups(
  graph: RelationGraph,
  schema: TableSchema,
  candidates: readonly Candidate[],
  { stored, updated, removed }: Moves,
): Promise<Map<string, Map<number, ChangedColumns>>> {
  const places = candidates.flatMap(({ path, groups }) =>
    groups.map(({ group, first, last }) => `(${quoteLiteral(path)}, ${group}, ${first}, ${last})`),
  );
  const names = schema.columns.map(({ name }) => name);
  const differs = names
    .map(quoteIdentifier)
    .map((name, at) => `new.${name} IS DISTINCT FROM old.${name} AS differs_${at}`)
    .join(', ');
  const falses = names.map((_, at) => `false AS differs_${at}`).join(', ');
  const any = names.map((_, at) => `bool_or(differs_${at}) AS differs_${at}`).join(', ');
  const rows = await graph.rows(
    sql`SELECT filename, row_group, bool_or(goes) AS goes, ${code(any)}
    FROM (SELECT filename, file_row_number, false AS goes, ${code(differs)}
        FROM ${updated} AS new JOIN ${stored} AS old USING (filename, file_row_number)
      UNION ALL SELECT filename, file_row_number, true, ${code(falses)} FROM ${removed})
      JOIN (VALUES ${code(places.join(', '))}) AS groups(filename, row_group, first, last) USING (filename)
    WHERE file_row_number BETWEEN first AND last
    GROUP BY filename, row_group ORDER BY filename, row_group`,
  );
  const changed = new Map<string, Map<number, ChangedColumns>>();
  for (const row of rows) {
    const path = String(row.filename);
    const columns = row.goes === true ? 'all' : names.filter((_, at) => row[`differs_${at}`] === true);
    const groups = changed.get(path) ?? new Map<number, ChangedColumns>();
    if (columns.length > 0) groups.set(Number(row.row_group), columns);
    changed.set(path, groups);
  }
  return changed;
}

/** Row groups of a file with the columns to write again. The last one takes the rows that the file gets. */
function listChanges(candidate: Candidate, changed: ReadonlyMap<number, ChangedColumns>, takes: boolean) {
  return candidate.groups.flatMap((facts, index) => {
    const columns = takes && index === candidate.groups.length - 1 ? 'all' : changed.get(facts.group);
    return columns === undefined ? [] : [{ ...facts, columns }];
  });
}

/** True if writing the file as a whole takes longer. */
function isCheaper({ file }: Candidate, changes: ReturnType<typeof listChanges>): boolean {
  const cost = changes.reduce((sum, { bytes, columns }) => {
    const encoded = [...bytes].filter(([name]) => columns === 'all' || columns.includes(name));
    return sum + GROUP_COST_BYTES + encoded.reduce((total, [, size]) => total + size, 0);
  }, 0);
  return cost < file.bytes;
}

function describeSplice(
  schema: TableSchema,
  { file, path }: Candidate,
  changes: ReturnType<typeof listChanges>,
  { updated, removed, inserted, taken }: Moves & { taken: PartitionKey | undefined },
): Splice {
  const [own, read] = [quoteLiteral(path), quoteLiteral(escapeGlob(path))];
  const groups = changes.map(({ group, first, last, columns }, index): GroupChange => {
    const isWhole = columns === 'all';
    const names = (isWhole ? schema.columns.map(({ name }) => name) : columns).map(quoteIdentifier);
    const values = names.map(
      (name) => `CASE WHEN new.filename IS NULL THEN old.${name} ELSE new.${name} END AS ${name}`,
    );
    const stay = sql`SELECT ${code(values.join(', '))}
      FROM read_parquet(${code(read)}, hive_partitioning = false, file_row_number = true) AS old
        LEFT JOIN (FROM ${updated} WHERE filename = ${code(own)}) AS new USING (file_row_number)
      WHERE old.file_row_number BETWEEN ${BigInt(first)} AND ${BigInt(last)}
        AND old.file_row_number NOT IN (SELECT file_row_number FROM ${removed} WHERE filename = ${code(own)})
      ORDER BY old.file_row_number`;
    if (taken === undefined || index < changes.length - 1) return { group, isWhole, rows: stay };
    const more = sql`SELECT ${code(names.join(', '))} FROM ${inserted} WHERE ${selectPartition(taken)}`;
    return { group, isWhole, rows: sql`FROM (${stay}) UNION ALL ${more}` };
  });
  return { file, path, groups };
}
