import type { DerivedTable } from '../../analyze/derived-tables.js';
import { countRows } from '../../lake/slices.js';
import type { NextLake, StagedTable, Staging } from '../../run/open/stage.js';
import type { MergedItems } from '../../run/open/wings.js';
import type { Source } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, selectNamedColumns, sql } from '../../sql/sql.js';
import type { TableName } from '../../tables/table.js';
import { isByProduct } from './product-parts.js';

export interface Made {
  /** The table in the form in which this run has staged it. Undefined if the table isn't derived. */
  staged?: StagedTable;
  /** The new rows of changed products. Only set if the rows of all other products stay the same. */
  changed?: Relation;
  /** True if only rows of changed products may change. */
  isKept: boolean;
}

export interface Deriving {
  merge: MergedItems;
  staging: Staging;
  next: NextLake;
  one: DerivedTable;
  reads: ReadonlyMap<TableName, Made>;
  /** The products whose rows may change. Undefined if all rows must be computed. */
  products: ChangedProducts | undefined;
}

/** Selects the rows of a table that may change, and the rows from which they are computed. */
export interface Narrowed {
  /** The column with the keys of the rows that may change. If `keys` is undefined, all rows may change. */
  key: 'product_id' | 'site_id';
  keys: Relation | undefined;
  /** Relations with the needed rows of a table. They are read in place of the complete table. */
  sources: Readonly<Partial<Record<TableName, Source>>>;
}

/** Finds the rows that changed items affect. Returns `none` if no row is affected, and `all` if all rows are. */
type Narrow = (deriving: Deriving) => Promise<Narrowed | 'none' | 'all'>;

export interface ChangedProducts {
  rows: Relation;
  count: bigint;
}

/** Complete tables are computed if the share of changed products is larger than 1/FEW_PRODUCTS. */
const FEW_PRODUCTS = 4n;
/** All matches are computed if more products than this have an item whose brand, code or shop has changed. */
const FEW_RENAMED = 100n;

const narrowByProduct: Narrow = async ({ reads, products, next }) => {
  if (products === undefined) return 'all';
  if (products.count === 0n) return 'none';
  const sources: Partial<Record<TableName, Relation>> = {};
  for (const [name, { changed }] of reads) {
    sources[name] = changed !== undefined && isByProduct(name) ? changed : await next.rows(name);
  }
  return { key: 'product_id', keys: products.rows, sources };
};

/** Finds products with an item whose brand, code or shop has changed. Their query reads all items of their brands. */
const narrowByBrand: Narrow = async ({ staging: { graph }, merge, next, one }) => {
  if (merge.changed === 0n) return 'none';
  const all: Narrowed = { key: 'product_id', keys: undefined, sources: {} };
  for (const name of one.reads) {
    if (name !== 'items' && (await graph.count(await next.rows(name))) > 0n) return all;
  }
  const renamed = graph.table(
    'renamed_products',
    sql`SELECT DISTINCT product_id FROM (
        SELECT unnest([product_id, folded(brand) || '-' || folded(mpn)]) AS product_id FROM (${selectDifferent(merge, 'product_id, gtin14, brand, mpn, site_id')}))
      WHERE contains(product_id, '-')`,
  );
  const count = await graph.count(renamed);
  if (count === 0n) return 'none';
  if (count > FEW_RENAMED) return all;
  const items = await next.rows('items');
  const brands = graph.table(
    'renamed_brands',
    sql`SELECT brand FROM (SELECT DISTINCT brand FROM ${items})
      WHERE folded(brand) IN (SELECT split_part(product_id, '-', 1) FROM ${renamed})`,
  );
  const columns = code(selectNamedColumns('items', [one.query]));
  const own = graph.table('items_of_brands', sql`SELECT ${columns} FROM ${items} SEMI JOIN ${brands} USING (brand)`);
  return { key: 'product_id', keys: renamed, sources: { items: own } };
};

/**
 * Finds websites with an item that is new, that gained or lost its price, or whose website, currency or listing state
 * has changed. Their query reads all items of these websites.
 */
const narrowBySite: Narrow = async ({ staging: { graph }, merge, next }) => {
  if (merge.changed === 0n) return 'none';
  const sites = graph.table(
    'changed_sites',
    sql`SELECT DISTINCT site_id FROM (${selectDifferent(merge, 'site_id, currency, is_listed, price IS NULL')})`,
  );
  if ((await graph.count(sites)) === 0n) return 'none';
  const items = sql`SELECT * FROM ${await next.rows('items')} SEMI JOIN ${sites} USING (site_id)`;
  return { key: 'site_id', keys: sites, sources: { items } };
};

/** For each kind of derived table, the function that finds the affected rows. src/tables/table.ts defines the kinds. */
export const NARROW: Readonly<Record<DerivedTable['by'], Narrow>> = {
  product: narrowByProduct,
  brand: narrowByBrand,
  site: narrowBySite,
};

/** Selects the items for which the run changes one of these columns, once with old and once with new values. */
function selectDifferent({ merged, before }: MergedItems, columns: string): Sql {
  const named = code(`item_id, ${columns}`);
  return sql`(SELECT ${named} FROM ${merged} EXCEPT SELECT ${named} FROM ${before})
    UNION ALL (SELECT ${named} FROM ${before} EXCEPT SELECT ${named} FROM ${merged})`;
}

/**
 * Finds the products that may change. These are the products of changed items, both before and after the run, and the
 * products with offers from a source that became stale or is no longer stale. Returns undefined if there are too many.
 */
export async function findChangedProducts(
  { graph, found }: Staging,
  { merged, before, changed }: MergedItems,
  flipped: Relation,
  next: NextLake,
): Promise<ChangedProducts | undefined> {
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
  const count = changed === 0n && !isFlipped ? 0n : await graph.count(rows);
  return count * FEW_PRODUCTS > countRows(found.tables.products.files) ? undefined : { rows, count };
}
