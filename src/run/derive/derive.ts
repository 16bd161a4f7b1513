import path from 'node:path';
import pLimit from 'p-limit';
import { type DerivedTable, listDerived, selectDerived } from '../../analyze/derived-tables.js';
import type { Merge } from '../../apply/merge.js';
import { settleAll } from '../../io/side-by-side.js';
import { countRows } from '../../lake/slices.js';
import { KEEP, replaceAll, replaceRows, type TableChange } from '../../lake/table-change.js';
import type { TableRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, columnsOf, selectNamedColumns, sql } from '../../sql/sql.js';
import type { TableName } from '../../tables/table.js';
import type { Run } from '../open/open-run.js';
import { isByProduct, type PartTables, ProductParts } from './product-parts.js';
import type { NextLake, StagedTable, Staging } from './stage.js';

/** The products whose rows of derived tables may become different. */
interface ChangedProducts {
  rows: Relation;
  count: bigint;
}

/** One changed product in so many is many. */
const FEW_PRODUCTS = 4n;

/** A table that others read. */
interface Made {
  /** Undefined where it is not a derived one. */
  staged?: StagedTable;
  /** Its rows of the changed products, where its other rows stay as they are. */
  changed?: Relation;
  /** True where rows of other products stay as they are. */
  isKept: boolean;
}

/**
 * Stages the derived tables. If the lake's rows follow from the items before the run, it computes only products with
 * changed offers, and writes only files again that hold a row which differs.
 * @param flipped sources of which offers read something else than before
 * @param next the lake as it would be, without these tables
 */
export async function deriveTables(
  run: Run,
  merge: Merge,
  flipped: Relation,
  { next, staging }: { next: NextLake; staging: Staging },
): Promise<StagedTable[]> {
  const { graph, tables, workFolder } = run;
  const derived = listDerived();
  const isFollowing = (one: DerivedTable) => isMadeOfItems(run, one);
  const products = derived.some(isFollowing) ? await findChangedProducts(graph, merge, flipped, next) : undefined;
  const few = products !== undefined && products.count * FEW_PRODUCTS <= countRows(tables.products.files);
  const queries = derived.flatMap(({ byProduct, query }) => (byProduct ? [query] : []));
  const parts = new ProductParts(graph, { folder: path.join(workFolder, 'products'), queries });
  const readChanged = async ({ rows }: ChangedProducts) =>
    graph.table(
      'changed_items',
      sql`SELECT ${code(selectNamedColumns('items', [...queries, 'product_id']))}
      FROM ${await next.rows('items')} SEMI JOIN ${rows} USING (product_id)`,
    );
  const items: Made = { isKept: true, ...(few && products.count > 0n ? { changed: await readChanged(products) } : {}) };
  // Groups of whole tables hold much memory: one is made after the other.
  const inTurn = pLimit(1);
  const made = new Map<TableName, Promise<Made>>();
  const readMade = async (name: TableName): Promise<Made> => {
    if (name === 'items') return items;
    // Offers of sources that became stale, or are no longer, are of the changed products.
    if (name === 'sources') return { isKept: true };
    return (await made.get(name)) ?? { isKept: next.isKept(name) };
  };
  const make = async (one: DerivedTable): Promise<Made> => {
    const reads = new Map<TableName, Made>();
    for (const read of one.reads) reads.set(read, await readMade(read));
    const othersStay = isFollowing(one) && [...reads.values()].every(({ isKept }) => isKept);
    const deriving = { run, merge, staging, next: withMade(next, reads), one };
    if (othersStay && one.byProduct && few) return renewProducts(deriving, products, reads);
    const renamed = othersStay && one.byBrand ? await findRenamedProducts(deriving) : undefined;
    if (renamed !== undefined && renamed.count <= FEW_RENAMED) return renewBrands(deriving, renamed);
    if (othersStay && !one.byProduct) return remakeDifferent(deriving);
    const staged = await inTurn(() => remake(deriving, parts));
    return { staged, isKept: false };
  };
  for (const one of derived) made.set(one.table, begin(make(one)));
  return (await settleAll([...made.values()])).flatMap(({ staged }) => staged ?? []);
}

/** All that a derived table is made with. */
interface Deriving {
  run: Run;
  merge: Merge;
  staging: Staging;
  /** The lake as it would be, with the tables that this one reads. */
  next: NextLake;
  one: DerivedTable;
}

/** Whoever waits for it later gets its error. */
function begin<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

function withMade(next: NextLake, reads: ReadonlyMap<TableName, Made>): NextLake {
  return next.with(...[...reads.values()].flatMap(({ staged }) => staged ?? []));
}

/** The products that merged rows are offers of, or were before the run, and those with offers of a flipped source. */
async function findChangedProducts(
  graph: RelationGraph,
  { merged, before, changed }: Merge,
  flipped: Relation,
  next: NextLake,
): Promise<ChangedProducts> {
  const isFlipped = (await graph.count(flipped)) > 0n;
  const offers = isFlipped
    ? sql`UNION SELECT product_id FROM ${await next.rows('items')} SEMI JOIN ${flipped} USING (site_id, source_id)
      WHERE product_id IS NOT NULL AND is_listed`
    : sql``;
  const rows = graph.table(
    'changed_products',
    sql`SELECT product_id FROM ${merged} WHERE product_id IS NOT NULL
    UNION SELECT product_id FROM ${before} WHERE product_id IS NOT NULL ${offers}`,
  );
  return { rows, count: changed === 0n && !isFlipped ? 0n : await graph.count(rows) };
}

/** True where the same query made the table from the items before the run, and nothing was repaired since. */
function isMadeOfItems({ tables, repairs }: Run, { table, hash }: DerivedTable): boolean {
  const { version, applied } = tables[table];
  const isOfItems = version >= 0n && applied.itemsVersion === tables.items.version && applied.query === hash;
  return isOfItems && Object.keys(repairs).length === 0;
}

/** The origin that the commit of a derived table notes. */
function noteOrigin({ run, next, one }: Deriving) {
  const isItemsChanged = next.changes.some(({ table }) => table === 'items');
  return { itemsVersion: run.tables.items.version + (isItemsChanged ? 1n : 0n), query: one.hash };
}

/** Writes the rows of the changed products again that became different. */
async function renewProducts(
  deriving: Deriving,
  products: ChangedProducts,
  reads: ReadonlyMap<TableName, Made>,
): Promise<Made> {
  const { run, staging, next, one } = deriving;
  const { graph, before, landing } = run;
  const { table } = one;
  const note = noteOrigin(deriving);
  if (products.count === 0n) return { staged: await staging.stage(table, KEEP, note), isKept: true };
  const sources: Partial<Record<TableName, Relation>> = {};
  for (const [name, { changed }] of reads) {
    sources[name] = changed !== undefined && isByProduct(name) ? changed : await next.rows(name);
  }
  const changed = graph.table(`changed_${table}`, selectDerived(one, sources, landing.runId));
  const change = await renewTable(graph, await before.table(table), products.rows, changed);
  return { staged: await staging.stage(table, change, note), changed, isKept: true };
}

async function renewTable(
  graph: RelationGraph,
  before: TableRows,
  products: Relation,
  changed: Relation,
): Promise<TableChange> {
  const { table } = before;
  const rows = before.ofFiles(before.files, { places: true });
  const stored = graph.table(`stored_${table}`, sql`SELECT * FROM ${rows} SEMI JOIN ${products} USING (product_id)`);
  // A row that did not change keeps the id of the run that made it.
  const values = columnsOf(table, ['run_id']);
  const different = graph.table(
    `different_${table}`,
    sql`SELECT DISTINCT product_id FROM (SELECT ${values}, 1 AS side FROM ${changed}
      UNION ALL SELECT ${values}, -1 AS side FROM ${stored}) GROUP BY ${values} HAVING sum(side) <> 0`,
  );
  if ((await graph.count(different)) === 0n) return KEEP;
  return replaceRows(graph, before, {
    key: 'product_id',
    gone: different,
    places: sql`${stored} SEMI JOIN ${different} USING (product_id)`,
    stored,
    added: sql`SELECT ${columnsOf(table)} FROM ${changed} SEMI JOIN ${different} USING (product_id)`,
    fillsSmall: true,
  });
}

/** So many products whose brand or codes changed are few. */
const FEW_RENAMED = 100n;

/** Products of which an item has another brand, code or shop than before; undefined where other tables say something as well. */
async function findRenamedProducts({ run, merge, next, one }: Deriving): Promise<ChangedProducts | undefined> {
  const { graph } = run;
  for (const name of one.reads) {
    if (name !== 'items' && (await graph.count(await next.rows(name))) > 0n) return undefined;
  }
  const named = code('item_id, product_id, gtin14, brand, mpn, site_id');
  const rows = graph.table(
    'renamed_products',
    sql`SELECT DISTINCT product_id FROM (
        SELECT unnest([product_id, folded(brand) || '-' || folded(mpn)]) AS product_id FROM (
          (SELECT ${named} FROM ${merge.merged} EXCEPT SELECT ${named} FROM ${merge.before})
          UNION ALL (SELECT ${named} FROM ${merge.before} EXCEPT SELECT ${named} FROM ${merge.merged})))
      WHERE contains(product_id, '-')`,
  );
  return { rows, count: await graph.count(rows) };
}

/** Writes the rows of these products again that became different, from the items of their brands. */
async function renewBrands(deriving: Deriving, products: ChangedProducts): Promise<Made> {
  const { run, staging, next, one } = deriving;
  const { graph, before, landing } = run;
  const { table, reads } = one;
  const note = noteOrigin(deriving);
  if (products.count === 0n) return { staged: await staging.stage(table, KEEP, note), isKept: true };
  const all = await readAll(next, reads);
  const brands = graph.table(
    'renamed_brands',
    sql`SELECT brand FROM (SELECT DISTINCT brand FROM ${all.items as Relation})
      WHERE folded(brand) IN (SELECT split_part(product_id, '-', 1) FROM ${products.rows})`,
  );
  const columns = code(selectNamedColumns('items', [one.query]));
  const items = graph.table(
    'items_of_brands',
    sql`SELECT ${columns} FROM ${all.items as Relation} SEMI JOIN ${brands} USING (brand)`,
  );
  const changed = graph.table(
    `changed_${table}`,
    sql`FROM (${selectDerived(one, { ...all, items }, landing.runId)}) SEMI JOIN ${products.rows} USING (product_id)`,
  );
  const change = await renewTable(graph, await before.table(table), products.rows, changed);
  return { staged: await staging.stage(table, change, note), isKept: false };
}

/** Makes a table that is not made by product, and writes it where its rows are others than it has. */
async function remakeDifferent(deriving: Deriving): Promise<Made> {
  const { run, merge, staging, next, one } = deriving;
  const { graph, before, landing } = run;
  const { table } = one;
  const note = noteOrigin(deriving);
  if (merge.changed === 0n) return { staged: await staging.stage(table, KEEP, note), isKept: true };
  const rows = graph.table(`next_${table}`, selectDerived(one, await readAll(next, one.reads), landing.runId));
  const stored = await before.table(table);
  const values = columnsOf(table, ['run_id']);
  const difference = await graph.row(
    sql`SELECT 1 FROM (SELECT ${values}, 1 AS side FROM ${rows} UNION ALL SELECT ${values}, -1 FROM ${stored.rows})
     GROUP BY ${values} HAVING sum(side) <> 0 LIMIT 1`,
  );
  const isKept = difference === undefined;
  const change = isKept ? KEEP : replaceAll(run.tables[table], sql`SELECT ${columnsOf(table)} FROM ${rows}`);
  return { staged: await staging.stage(table, change, note), isKept };
}

/** Makes all rows of a table: those of one part of the products after the other, where there are many. */
async function remake(deriving: Deriving, parts: ProductParts): Promise<StagedTable> {
  const { run, staging, next, one } = deriving;
  const { graph, tables: stored, landing } = run;
  const { remove } = replaceAll(stored[one.table], undefined);
  const tables = await readAll(next, one.reads);
  const count = one.byProduct ? parts.count(await graph.count(await next.rows('items'))) : 1;
  const divided: readonly PartTables[] = await parts.divide(tables, count);
  const selects = divided.map((part) => selectDerived(one, part, landing.runId));
  return staging.stageParts(one.table, { remove }, selects, noteOrigin(deriving));
}

async function readAll(next: NextLake, names: readonly TableName[]): Promise<Partial<Record<TableName, Relation>>> {
  const rows = await Promise.all(names.map(async (name) => [name, await next.rows(name)] as const));
  return Object.fromEntries(rows);
}
