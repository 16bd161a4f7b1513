import path from 'node:path';
import pLimit from 'p-limit';
import { type DerivedTable, listDerived, selectDerived } from '../../analyze/derived-tables.js';
import { settleAll } from '../../io/side-by-side.js';
import { KEEP, replaceAll, replaceRows, type TableChange } from '../../lake/table-change.js';
import { RowsInParts } from '../../run/apply/rows-in-parts.js';
import type { FoundLake } from '../../run/open/run-parts.js';
import { type NextLake, once, type StagedTable, type Staging } from '../../run/open/stage.js';
import type { CopiedNews } from '../../run/open/wings.js';
import type { Relation } from '../../sql/relation.js';
import { code, columnsOf, selectNamedColumns, sql } from '../../sql/sql.js';
import type { TableName } from '../../tables/table.js';
import { type Deriving, findChangedProducts, type Made, NARROW, type Narrowed } from './narrow.js';
import { countParts, divideTables, type PartTables } from './product-parts.js';

/**
 * Stages the derived tables. If the stored rows of a table were computed from the items before this run, only rows that
 * depend on changed items are computed, and only files with rows that differ are rewritten.
 * @param flipped sources that became stale, or are no longer stale
 * @param next the lake as this run would publish it, without the derived tables
 */
export async function deriveTables(
  staging: Staging,
  next: NextLake,
  { merge, flipped, workFolder }: CopiedNews,
): Promise<StagedTable[]> {
  const { graph, found } = staging;
  const derived = listDerived();
  const isFollowed = derived.some((one) => isMadeOfItems(found, one));
  const products = isFollowed ? await findChangedProducts(staging, merge, flipped, next) : undefined;
  const queries = derived.flatMap(({ by, query }) => (by === 'product' ? [query] : []));
  const items: Made = { isKept: true };
  if (products !== undefined && products.count > 0n) {
    const columns = code(selectNamedColumns('items', [...queries, 'product_id']));
    items.changed = graph.table(
      'changed_items',
      sql`SELECT ${columns} FROM ${await next.rows('items')} SEMI JOIN ${products.rows} USING (product_id)`,
    );
  }
  // Complete tables are computed one after another, because grouping all rows of a table takes much memory.
  const inTurn = pLimit(1);
  const divideProducts = once(async () => {
    const count = countParts(await graph.count(await next.rows('items')));
    return new RowsInParts(graph, { folder: path.join(workFolder, 'products'), count, key: 'product_id' });
  });
  const divide = async (tables: Partial<Record<TableName, Relation>>) =>
    divideTables(await divideProducts(), tables, queries);
  const made = new Map<TableName, Promise<Made>>();
  const readMade = async (name: TableName): Promise<Made> => {
    if (name === 'items') return items;
    // A source that became stale, or is no longer stale, affects only products that `products` already contains.
    if (name === 'sources') return { isKept: true };
    return (await made.get(name)) ?? { isKept: next.isKept(name) };
  };
  const make = async (one: DerivedTable): Promise<Made> => {
    const reads = new Map<TableName, Made>();
    for (const read of one.reads) reads.set(read, await readMade(read));
    const withMade = next.with(...[...reads.values()].flatMap(({ staged }) => staged ?? []));
    const deriving = { merge, staging, next: withMade, one, reads, products };
    const isFollowing = isMadeOfItems(found, one) && [...reads.values()].every(({ isKept }) => isKept);
    const narrowed = isFollowing ? await NARROW[one.by](deriving) : 'all';
    if (narrowed === 'all') return { staged: await inTurn(() => remake(deriving, divide)), isKept: false };
    const isWhole = narrowed !== 'none' && narrowed.keys === undefined;
    return isWhole ? inTurn(() => renew(deriving, narrowed)) : renew(deriving, narrowed);
  };
  for (const one of derived) made.set(one.table, begin(make(one)));
  return (await settleAll([...made.values()])).flatMap(({ staged }) => staged ?? []);
}

/** Returns the promise, and keeps Node from reporting its rejection as unhandled before it is awaited. */
function begin<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

/** True if the same query computed the stored rows from the items before this run, and no table needs a repair. */
function isMadeOfItems({ tables, repairs }: FoundLake, { table, hash }: DerivedTable): boolean {
  const { version, applied } = tables[table];
  const isOfItems = version >= 0n && applied.itemsVersion === tables.items.version && applied.query === hash;
  return isOfItems && Object.keys(repairs).length === 0;
}

/** Returns what the table's commit records: which version of the items and which query the rows come from. */
function noteOrigin({ staging, next, one }: Deriving) {
  const isItemsChanged = next.changes.some(({ table }) => table === 'items');
  return { itemsVersion: staging.found.tables.items.version + (isItemsChanged ? 1n : 0n), query: one.hash };
}

/** Computes the rows that depend on changed items, and replaces those stored rows that differ. */
async function renew(deriving: Deriving, narrowed: Narrowed | 'none'): Promise<Made> {
  const { staging, next, one } = deriving;
  const { table } = one;
  const note = noteOrigin(deriving);
  if (narrowed === 'none') return { staged: await staging.stage(table, KEEP, note), isKept: true };
  const { key, keys } = narrowed;
  const sources = { ...(await readAll(next, one.reads)), ...narrowed.sources };
  const made = selectDerived(one, sources, staging.runId);
  const ofKeys = keys === undefined ? sql`` : sql`SEMI JOIN ${keys} USING (${code(key)})`;
  const changed = staging.graph.table(`changed_${table}`, sql`FROM (${made}) ${ofKeys}`);
  const change = await replaceDifferent(deriving, narrowed, changed);
  const staged = await staging.stage(table, change, note);
  return one.by === 'product' ? { staged, changed, isKept: true } : { staged, isKept: change === KEEP };
}

/** Replaces the stored rows that have the given keys with newly computed rows. Keeps rows that don't differ. */
async function replaceDifferent(
  { staging: { graph, found }, one: { table } }: Deriving,
  { key, keys }: Narrowed,
  changed: Relation,
): Promise<TableChange> {
  const before = await found.before.table(table);
  const rows = before.ofFiles(before.files, { places: true });
  const using = code(key);
  const ofKeys = keys === undefined ? sql`` : sql`SEMI JOIN ${keys} USING (${using})`;
  const stored = graph.table(`stored_${table}`, sql`SELECT * FROM ${rows} ${ofKeys}`);
  // The rows are compared without run_id, because a row that doesn't differ keeps the id of the run that wrote it.
  const values = columnsOf(table, ['run_id']);
  const different = graph.table(
    `different_${table}`,
    sql`SELECT DISTINCT ${using} FROM (SELECT ${values}, 1 AS side FROM ${changed}
      UNION ALL SELECT ${values}, -1 AS side FROM ${stored}) GROUP BY ${values} HAVING sum(side) <> 0`,
  );
  if ((await graph.count(different)) === 0n) return KEEP;
  return replaceRows(graph, before, {
    key,
    gone: different,
    places: sql`${stored} SEMI JOIN ${different} USING (${using})`,
    added: sql`SELECT ${columnsOf(table)} FROM ${changed} SEMI JOIN ${different} USING (${using})`,
    fillsSmall: true,
  });
}

/** Computes all rows of a table. If there are many products, they are computed in several parts. */
async function remake(
  deriving: Deriving,
  divide: (tables: Partial<Record<TableName, Relation>>) => Promise<PartTables[]>,
): Promise<StagedTable> {
  const { staging, next, one } = deriving;
  const { remove } = replaceAll(staging.found.tables[one.table], undefined);
  const tables = await readAll(next, one.reads);
  const divided = one.by === 'product' ? await divide(tables) : [tables];
  const selects = divided.map((part) => selectDerived(one, part, staging.runId));
  return staging.stageParts(one.table, { remove }, selects, noteOrigin(deriving));
}

async function readAll(next: NextLake, names: readonly TableName[]): Promise<Partial<Record<TableName, Relation>>> {
  const rows = await Promise.all(names.map(async (name) => [name, await next.rows(name)] as const));
  return Object.fromEntries(rows);
}
