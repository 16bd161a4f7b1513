import type { Database } from './connection.js';

/** A node of DuckDB's syntax tree (`json_serialize_sql`). */
export type Tree = Readonly<Record<string, unknown>>;

/** The tree of one SELECT; undefined if DuckDB can't serialize it, such as PIVOT. */
export async function parseSelect(db: Pick<Database, 'row'>, sql: string): Promise<Tree | undefined> {
  const row = await db.row('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR AS tree', [sql]);
  return readSelect(row?.tree);
}

function readSelect(serialized: unknown): Tree | undefined {
  const [statement] = listTrees(asTree(JSON.parse(String(serialized))).statements);
  return statement === undefined ? undefined : asTree(statement.node);
}

export function asTree(value: unknown): Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {};
}

/** The nodes of a list; none where there is no list. */
export function listTrees(value: unknown): Tree[] {
  return Array.isArray(value) ? value.map(asTree) : [];
}

/** A node and all below it. */
export function* walkTree(value: unknown): Generator<Tree> {
  if (Array.isArray(value)) for (const one of value) yield* walkTree(one);
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return;
  yield asTree(value);
  for (const member of Object.values(value)) yield* walkTree(member);
}

/** A name as DuckDB compares it. */
export const toName = (value: unknown): string => String(value ?? '').toLowerCase();

/** `items.site_id` as its parts; undefined for anything but a column. */
export function readColumnRef(tree: Tree): string[] | undefined {
  return tree.class === 'COLUMN_REF' && Array.isArray(tree.column_names) ? tree.column_names.map(toName) : undefined;
}

/** Functions that a check with a scope may call. */
export interface KnownFunctions {
  aggregates: ReadonlySet<string>;
  /** The same arguments always give the same value. */
  stable: ReadonlySet<string>;
}

/** DuckDB calls these consistent, but they depend on the clock or the session. */
const UNSTABLE = ['age', 'getvariable', 'current_setting'];
/** The clock's names that look like columns. */
const CLOCK = /^(current_(date|time|timestamp)|localtime(stamp)?)$/u;

/** DuckDB's functions. A macro is stable if all functions that it calls are. */
export async function listFunctions(db: Database): Promise<KnownFunctions> {
  const rows =
    await db.rows(`SELECT lower(function_name) AS name, function_type AS type, bool_and(stability = 'CONSISTENT') AS ok
    FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate') GROUP BY ALL`);
  const named = (type: string) =>
    rows.filter((row) => row.type === type && row.ok === true).map(({ name }) => String(name));
  const aggregates = new Set(named('aggregate'));
  const stable = new Set(['unnest', ...named('scalar')]);
  for (const name of [...aggregates, ...UNSTABLE]) stable.delete(name);
  const macros = await listMacros(db);
  const scalars = { stable, aggregates: new Set<string>() };
  // Macros call other macros.
  for (let before = 0; before < stable.size; ) {
    before = stable.size;
    for (const [name, trees] of macros) {
      if (trees.every((tree) => findUnstable(tree, scalars) === undefined)) stable.add(name);
    }
  }
  return { aggregates, stable };
}

/** The expression behind each macro, except macros that query tables. */
async function listMacros(db: Database): Promise<Map<string, Tree[]>> {
  const rows = await db.rows(`SELECT lower(function_name) AS name,
      json_serialize_sql('SELECT ' || macro_definition)::VARCHAR AS tree FROM duckdb_functions()
    WHERE function_type = 'macro' AND macro_definition NOT ILIKE '%select%' ORDER BY ALL`);
  const macros = new Map<string, Tree[]>();
  for (const { name, tree } of rows) {
    macros.set(String(name), [...(macros.get(String(name)) ?? []), readSelect(tree) ?? UNKNOWN]);
  }
  return macros;
}

/** A call of a function that does not exist. */
const UNKNOWN: Tree = { class: 'FUNCTION', function_name: '' };

/** The SQL name of the first part of a tree whose value differs from run to run. */
export function findUnstable(tree: Tree, { aggregates, stable }: KnownFunctions): string | undefined {
  for (const one of walkTree(tree)) {
    const name = toName(one.function_name);
    if (one.class === 'FUNCTION' && !aggregates.has(name) && !stable.has(name)) return `${name}()`;
    const column = readColumnRef(one)?.at(-1);
    if (column !== undefined && CLOCK.test(column)) return column;
  }
  return undefined;
}
