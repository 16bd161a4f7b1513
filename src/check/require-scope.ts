import { PricelakeError } from '../io/errors.js';
import type { Database } from '../sql/connection.js';
import {
  asTree,
  findUnstable,
  type KnownFunctions,
  listFunctions,
  listTrees,
  parseSelect,
  readColumnRef,
  type Tree,
  toName,
  walkTree,
} from '../sql/query-tree.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { Check } from './check.js';

/** Why a query does not follow its scope. */
class Refusal extends Error {}
const refuse = (why: string): never => {
  throw new Refusal(why);
};

/** The scope of a query. `keys` is empty for `row`; `own` has the names of items and of CTEs that read it. */
interface Scope {
  keys: readonly string[];
  own: ReadonlySet<string>;
  functions: KnownFunctions;
}

/**
 * Refuses a check unless each violation follows from one row of items, or from the rows with equal values in the
 * scope's columns. Else a run could not count violations by the rows that it changed. Only forms that are known to be
 * safe pass.
 * @throws PricelakeError `config` that names file and line.
 */
export async function requireScopes(db: Database, checks: readonly Check[]): Promise<void> {
  const scoped = checks.flatMap(({ scope, ...check }) => (scope === undefined ? [] : [{ ...check, scope }]));
  if (scoped.length === 0) return;
  const functions = await listFunctions(db);
  for (const check of scoped) {
    const keys = check.scope === 'row' ? [] : check.scope;
    const why = explainRefusal(await parseSelect(db, check.sql), { keys, own: new Set(['items']), functions });
    if (why === undefined) continue;
    const line = check.sql.split(/\r?\n/u).findIndex((text) => /^--\s*scope:/u.test(text)) + 1;
    throw new PricelakeError('config', `${check.file}:${line}: scope: ${keys.join(', ') || 'row'}: ${why}`, {
      hint: 'Remove the line, so that each run reads all rows, or write the check as docs/engineer/checks.md says.',
    });
  }
}

function explainRefusal(tree: Tree | undefined, scope: Scope): string | undefined {
  try {
    if (tree === undefined) return "DuckDB doesn't show the structure of its SELECT";
    requireStable(tree, scope);
    requireNode(tree, scope);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** Requires that the same rows give the same result, in any order. */
function requireStable(tree: Tree, { functions }: Scope): void {
  for (const one of walkTree(tree)) {
    if (one.type === 'LIMIT_MODIFIER' || one.type === 'LIMIT_PERCENT_MODIFIER') refuse('LIMIT picks only some rows');
    if (one.sample !== undefined && one.sample !== null) refuse('a sample picks only some rows');
    if (one.type === 'TABLE_FUNCTION') refuse('it reads from a table function');
  }
  const unstable = findUnstable(tree, functions);
  if (unstable !== undefined) refuse(`${unstable} changes from run to run`);
}

/** True if a part of the query reads items. */
function readsOwn(part: unknown, { own }: Scope): boolean {
  return [...walkTree(part)].some((one) => one.type === 'BASE_TABLE' && own.has(toName(one.table_name)));
}

/**
 * Requires that the query's rows over all items are its rows over each part of them. Another query reads an `inner` one,
 * which must pass the columns of the scope on unchanged.
 */
function requireNode(node: Tree, outer: Scope, place: 'outer' | 'inner' = 'outer'): void {
  const scope = requireWith(node, outer);
  if (listTrees(node.modifiers).some(({ type }) => type === 'DISTINCT_MODIFIER')) refuse('DISTINCT compares all rows');
  if (node.type === 'SET_OPERATION_NODE') requireUnion(node, scope, place);
  else if (node.type === 'SELECT_NODE') requireSelect(node, scope, place);
  else refuse('it is not a plain SELECT');
}

function requireSelect(node: Tree, scope: Scope, place: 'outer' | 'inner'): void {
  const { alias, isItems } = requireSource(asTree(node.from_table), scope);
  for (const [member, part] of Object.entries(node)) {
    // FROM and the CTEs have checks of their own.
    if (member !== 'from_table' && member !== 'cte_map' && readsOwn(part, scope)) refuse('a subquery reads items');
  }
  const columns = listTrees(node.select_list);
  const isOfOne = asTree(node.from_table).type !== 'JOIN';
  for (const key of scope.keys) {
    const passed = columns.filter((one) => isColumn(one, key, alias) || (isOfOne && isWholeStar(one)));
    const isTaken = columns.some((one) => toName(one.alias) === key && !passed.includes(one));
    if (isTaken || (place === 'inner' && passed.length !== 1)) refuse(`a SELECT doesn't pass ${key} on unchanged`);
  }
  requireGroups(node, scope, alias);
  requireWindows(node, scope, alias);
  if (isItems) requireNoNull(node, scope, alias);
}

function requireUnion(node: Tree, scope: Scope, place: 'outer' | 'inner'): void {
  const isPlain = node.setop_type === 'UNION' && node.setop_all === true;
  if (!isPlain) refuse('it combines results with something other than UNION ALL');
  if (place === 'inner' && scope.keys.length > 0) refuse('an inner SELECT is a UNION ALL');
  for (const side of [asTree(node.left), asTree(node.right)]) requireNode(side, scope);
}

/** Adds the CTEs that read items to the names of items. */
function requireWith(node: Tree, outer: Scope): Scope {
  let scope = outer;
  for (const { key, value } of listTrees(asTree(node.cte_map).map)) {
    const query = asTree(asTree(asTree(value).query).node);
    if (!readsOwn(query, scope)) continue;
    if (isFilled(asTree(value).aliases)) refuse('WITH renames columns');
    requireNode(query, scope, 'inner');
    scope = { ...scope, own: new Set([...scope.own, toName(key)]) };
  }
  return scope;
}

const isFilled = (list: unknown) => Array.isArray(list) && list.length > 0;

const PRESERVES: Record<string, readonly ('left' | 'right')[]> = {
  INNER: ['left', 'right'],
  LEFT: ['left'],
  RIGHT: ['right'],
  SEMI: ['left'],
  ANTI: ['left'],
};

/** A SELECT may read the items once, and join relations that don't read them. Returns the alias of the items. */
function requireSource(from: Tree, scope: Scope): { alias: string; isItems: boolean } {
  if (!readsOwn(from, scope)) return refuse("it doesn't read items in FROM");
  if (isFilled(from.column_name_alias)) refuse('FROM renames columns');
  if (from.type === 'BASE_TABLE') {
    // A run shows a check other rows under the bare name.
    if (toName(from.schema_name) + toName(from.catalog_name) !== '') refuse('it names items with a schema');
    return { alias: toName(from.alias) || toName(from.table_name), isItems: toName(from.table_name) === 'items' };
  }
  if (from.type === 'SUBQUERY') {
    requireNode(asTree(asTree(from.subquery).node), scope, 'inner');
    return { alias: toName(from.alias), isItems: false };
  }
  if (from.type !== 'JOIN') return refuse('it reads items other than as a table or in a join');
  const sides = (['left', 'right'] as const).filter((side) => readsOwn(from[side], scope));
  const [side = 'left'] = sides;
  if (sides.length > 1) refuse('it joins items with itself');
  if (
    !['REGULAR', 'NATURAL', 'CROSS'].includes(String(from.ref_type)) ||
    PRESERVES[String(from.join_type)]?.includes(side) !== true
  ) {
    refuse("its join has rows that don't come from a row of items");
  }
  if (readsOwn(from.condition, scope)) refuse('a subquery reads items');
  return requireSource(asTree(from[side]), scope);
}

/** A column of the scope under its own name; `alias` is the name of items there. */
function isColumn(column: Tree, key: string, alias: string): boolean {
  const [name, table = alias, ...more] = (readColumnRef(column) ?? []).reverse();
  return name === key && table === alias && more.length === 0 && ['', key].includes(toName(column.alias));
}

function holdsKeys(columns: readonly Tree[], keys: readonly string[], alias: string): boolean {
  return keys.length > 0 && keys.every((key) => columns.some((column) => isColumn(column, key, alias)));
}

function requireGroups(node: Tree, { keys, functions }: Scope, alias: string): void {
  const parts = [node.select_list, node.having, node.qualify, node.modifiers];
  const called = parts
    .flatMap((part) => [...walkTree(part)])
    .find((one) => one.class === 'FUNCTION' && functions.aggregates.has(toName(one.function_name)));
  const groups = listTrees(node.group_expressions);
  const isPlain = node.aggregate_handling === 'STANDARD_HANDLING';
  if (called === undefined && groups.length === 0 && node.having === null && isPlain) return;
  const sets = Array.isArray(node.group_sets) ? node.group_sets : [];
  if (isPlain && sets.length === 1 && holdsKeys(groups, keys, alias)) return;
  const what = called === undefined ? 'the query' : `${toName(called.function_name).replace('count_star', 'count')}()`;
  refuse(keys.length === 0 ? `${what} looks at more than one row` : `${what} isn't grouped by ${keys.join(', ')}`);
}

function requireWindows(node: Tree, { keys }: Scope, alias: string): void {
  for (const one of walkTree([node.select_list, node.qualify, node.modifiers])) {
    if (one.class !== 'WINDOW' || holdsKeys(listTrees(one.partitions), keys, alias)) continue;
    const what = `${toName(one.function_name)}() OVER`;
    refuse(
      keys.length === 0 ? `${what} looks at more than one row` : `${what} isn't partitioned by ${keys.join(', ')}`,
    );
  }
}

/** A run finds the rows beside those that it changed by equal values, and NULL equals nothing. */
function requireNoNull(node: Tree, { keys }: Scope, alias: string): void {
  const required = new Set(
    loadTableSchema('items')
      .columns.filter(({ nullable }) => !nullable)
      .map(({ name }) => name),
  );
  const conditions = listConditions(asTree(node.where_clause));
  for (const key of keys) {
    const isGiven = conditions.some(
      ({ type, children }) =>
        type === 'OPERATOR_IS_NOT_NULL' && listTrees(children).some((one) => isColumn(one, key, alias)),
    );
    if (!required.has(key) && !isGiven) refuse(`it doesn't exclude NULL with WHERE ${key} IS NOT NULL`);
  }
}

function listConditions(where: Tree): Tree[] {
  return where.type === 'CONJUNCTION_AND' ? listTrees(where.children).flatMap(listConditions) : [where];
}

function isWholeStar(column: Tree): boolean {
  const changes = ['exclude_list', 'replace_list', 'rename_list', 'qualified_exclude_list'];
  return column.class === 'STAR' && column.columns === false && !changes.some((name) => isFilled(column[name]));
}
