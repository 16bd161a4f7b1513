import { type DerivedTable, selectDerived } from '../../analyze/derived-tables.js';
import type { Merge } from '../../apply/merge.js';
import { KEEP, replaceRows, type TableChange } from '../../lake/table-change.js';
import type { TableRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, columnsOf, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import type { TableName } from '../../tables/table.js';
import { isByProduct } from './product-parts.js';
import type { NextLake, StagedTable, Staging } from './stage.js';

/** The products whose rows of derived tables may become different. */
export interface ChangedProducts {
  rows: Relation;
  count: bigint;
}

/** A table that others read. */
export interface Made {
  /** Undefined where it is not a derived one. */
  staged?: StagedTable;
  /** Its rows of the changed products, where its other rows stay as they are. */
  changed?: Relation;
  /** True where rows of other products stay as they are. */
  isKept: boolean;
}

/** All that a derived table is made with. */
export interface Deriving {
  merge: Merge;
  staging: Staging;
  /** The lake as it would be, with the tables that this one reads. */
  next: NextLake;
  one: DerivedTable;
}

/** The origin that the commit of a derived table notes. */
export function noteOrigin({ staging, next, one }: Deriving) {
  const isItemsChanged = next.changes.some(({ table }) => table === 'items');
  return { itemsVersion: staging.found.tables.items.version + (isItemsChanged ? 1n : 0n), query: one.hash };
}

/** Writes the rows of the changed products again that became different. */
export async function renewProducts(
  deriving: Deriving,
  products: ChangedProducts,
  reads: ReadonlyMap<TableName, Made>,
): Promise<Made> {
  const { staging, next, one } = deriving;
  const { graph, runId, found } = staging;
  const { table } = one;
  const note = noteOrigin(deriving);
  if (products.count === 0n) return { staged: await staging.stage(table, KEEP, note), isKept: true };
  const sources: Partial<Record<TableName, Relation>> = {};
  for (const [name, { changed }] of reads) {
    sources[name] = changed !== undefined && isByProduct(name) ? changed : await next.rows(name);
  }
  const changed = graph.table(`changed_${table}`, selectDerived(one, sources, runId));
  const change = await renewTable(graph, await found.before.table(table), 'product_id', products.rows, changed);
  return { staged: await staging.stage(table, change, note), changed, isKept: true };
}

/** Replaces the rows with some products or websites (`key`) by those that are computed for them, where these differ. */
async function renewTable(
  graph: RelationGraph,
  before: TableRows,
  key: 'product_id' | 'site_id',
  keys: Relation,
  changed: Relation,
): Promise<TableChange> {
  const { table } = before;
  const rows = before.ofFiles(before.files, { places: true });
  const stored = graph.table(`stored_${table}`, sql`SELECT * FROM ${rows} SEMI JOIN ${keys} USING (${code(key)})`);
  // A row that did not change keeps the id of the run that made it.
  const values = columnsOf(table, ['run_id']);
  const different = graph.table(
    `different_${table}`,
    sql`SELECT DISTINCT ${code(key)} FROM (SELECT ${values}, 1 AS side FROM ${changed}
      UNION ALL SELECT ${values}, -1 AS side FROM ${stored}) GROUP BY ${values} HAVING sum(side) <> 0`,
  );
  if ((await graph.count(different)) === 0n) return KEEP;
  return replaceRows(graph, before, {
    key,
    gone: different,
    places: sql`${stored} SEMI JOIN ${different} USING (${code(key)})`,
    added: sql`SELECT ${columnsOf(table)} FROM ${changed} SEMI JOIN ${different} USING (${code(key)})`,
    fillsSmall: true,
  });
}

/** So many products whose brand or codes changed are few. */
export const FEW_RENAMED = 100n;

/** Products of which an item has another brand, code or shop than before; undefined where other tables say something as well. */
export async function findRenamedProducts({
  staging: { graph },
  merge,
  next,
  one,
}: Deriving): Promise<ChangedProducts | undefined> {
  for (const name of one.reads) {
    if (name !== 'items' && (await graph.count(await next.rows(name))) > 0n) return undefined;
  }
  const rows = graph.table(
    'renamed_products',
    sql`SELECT DISTINCT product_id FROM (
        SELECT unnest([product_id, folded(brand) || '-' || folded(mpn)]) AS product_id FROM (${selectDifferent(merge, 'product_id, gtin14, brand, mpn, site_id')}))
      WHERE contains(product_id, '-')`,
  );
  return { rows, count: await graph.count(rows) };
}

/** Writes the rows of these products again that became different, from the items of their brands. */
export async function renewBrands(deriving: Deriving, products: ChangedProducts): Promise<Made> {
  const { staging, next, one } = deriving;
  const { graph, runId, found } = staging;
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
    sql`FROM (${selectDerived(one, { ...all, items }, runId)}) SEMI JOIN ${products.rows} USING (product_id)`,
  );
  const change = await renewTable(graph, await found.before.table(table), 'product_id', products.rows, changed);
  return { staged: await staging.stage(table, change, note), isKept: false };
}

/** Writes the rows of websites again of which an item is new or has another state than before. */
export async function renewSites(deriving: Deriving): Promise<Made> {
  const { staging, one } = deriving;
  const change = await findSiteChange(deriving);
  return { staged: await staging.stage(one.table, change, noteOrigin(deriving)), isKept: change === KEEP };
}

async function findSiteChange({ staging, merge, next, one }: Deriving): Promise<TableChange> {
  const { graph, runId, found } = staging;
  const { table } = one;
  if (merge.changed === 0n) return KEEP;
  const sites = graph.table(
    'changed_sites',
    sql`SELECT DISTINCT site_id FROM (${selectDifferent(merge, 'site_id, currency, is_listed, price IS NULL')})`,
  );
  if ((await graph.count(sites)) === 0n) return KEEP;
  const items = sql`SELECT * FROM ${await next.rows('items')} SEMI JOIN ${sites} USING (site_id)`;
  const changed = graph.table(`changed_${table}`, selectDerived(one, { items }, runId));
  return renewTable(graph, await found.before.table(table), 'site_id', sites, changed);
}

/** Items as they are now or were before the run, where they have other values of some columns. */
function selectDifferent({ merged, before }: Merge, columns: string): Sql {
  const named = code(`item_id, ${columns}`);
  return sql`(SELECT ${named} FROM ${merged} EXCEPT SELECT ${named} FROM ${before})
    UNION ALL (SELECT ${named} FROM ${before} EXCEPT SELECT ${named} FROM ${merged})`;
}

export async function readAll(
  next: NextLake,
  names: readonly TableName[],
): Promise<Partial<Record<TableName, Relation>>> {
  const rows = await Promise.all(names.map(async (name) => [name, await next.rows(name)] as const));
  return Object.fromEntries(rows);
}
