import type { Database } from '../sql/connection.js';
import { parseSelect, readColumnRef, type Tree, toName, walkTree } from './query-tree.js';

/** Functions by what a check with a scope may do with them. */
export interface KnownFunctions {
  aggregates: ReadonlySet<string>;
  /** The same arguments always give the same value. */
  stable: ReadonlySet<string>;
}

/** They depend on the clock or on the session, though DuckDB calls them consistent. */
const UNSTABLE = ['age', 'getvariable', 'current_setting'];
/** These look like columns. */
const CLOCK = /^(current_(date|time|timestamp)|localtime(stamp)?)$/u;

/** The functions of DuckDB. A macro is stable if all that it calls is. */
export async function listFunctions(db: Database): Promise<KnownFunctions> {
  const rows =
    await db.rows(`SELECT lower(function_name) AS name, function_type AS type, bool_and(stability = 'CONSISTENT') AS ok
    FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate') GROUP BY ALL`);
  const named = (type: string) =>
    rows.filter((row) => row.type === type && row.ok === true).map(({ name }) => String(name));
  const aggregates = new Set(named('aggregate'));
  const stable = new Set(['unnest', ...named('scalar')]);
  for (const name of [...aggregates, ...UNSTABLE]) stable.delete(name);
  let macros = await listMacros(db);
  const isStable = (trees: readonly Tree[]) =>
    trees.every((tree) => findUnstable(tree, { stable, aggregates: NONE }) === undefined);
  for (let found = [...macros.keys()]; found.length > 0; ) {
    found = [...macros].filter(([, trees]) => isStable(trees)).map(([name]) => name);
    for (const name of found) stable.add(name);
    macros = new Map([...macros].filter(([name]) => !stable.has(name)));
  }
  return { aggregates, stable };
}

const NONE: ReadonlySet<string> = new Set();

/** The expression behind each macro, except macros that query tables. */
async function listMacros(db: Database): Promise<Map<string, Tree[]>> {
  const rows = await db.rows(`SELECT lower(function_name) AS name, macro_definition AS sql FROM duckdb_functions()
    WHERE function_type = 'macro' AND macro_definition NOT ILIKE '%select%' ORDER BY ALL`);
  const macros = new Map<string, Tree[]>();
  for (const { name, sql } of rows) {
    const tree = await parseSelect(db, `SELECT ${String(sql)}`);
    macros.set(String(name), [...(macros.get(String(name)) ?? []), tree ?? UNKNOWN]);
  }
  return macros;
}

/** A call of a function that there is not. */
const UNKNOWN: Tree = { class: 'FUNCTION', function_name: '' };

/** The first thing in a tree whose value differs from run to run, as it is called in SQL. */
export function findUnstable(tree: Tree, { aggregates, stable }: KnownFunctions): string | undefined {
  for (const one of walkTree(tree)) {
    const name = toName(one.function_name);
    if (one.class === 'FUNCTION' && !aggregates.has(name) && !stable.has(name)) return `${name}()`;
    const column = readColumnRef(one)?.at(-1);
    if (column !== undefined && CLOCK.test(column)) return column;
  }
  return undefined;
}
