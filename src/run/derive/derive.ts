import path from 'node:path';
import pLimit from 'p-limit';
import { type DerivedTable, listDerived, selectDerived } from '../../analyze/derived-tables.js';
import type { Merge } from '../../apply/merge.js';
import { settleAll } from '../../io/side-by-side.js';
import { countRows } from '../../lake/slices.js';
import { KEEP, replaceAll } from '../../lake/table-change.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Source } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { code, columnsOf, selectNamedColumns, sql } from '../../sql/sql.js';
import type { TableName } from '../../tables/table.js';
import type { FoundLake } from '../open/run-parts.js';
import { ProductParts } from './product-parts.js';
import {
  type ChangedProducts,
  type Deriving,
  FEW_RENAMED,
  findRenamedProducts,
  type Made,
  noteOrigin,
  readAll,
  renewBrands,
  renewProducts,
  renewSites,
} from './renew.js';
import { type NextLake, once, type StagedTable, type Staging } from './stage.js';

/** One changed product in so many is many. */
const FEW_PRODUCTS = 4n;

/**
 * Stages the derived tables. If the lake's rows follow from the items before the run, it computes only products with
 * changed offers, and writes only files again that hold a row which differs.
 * @param flipped sources of which offers read something else than before
 * @param next the lake as it would be, without these tables
 */
export async function deriveTables(
  staging: Staging,
  next: NextLake,
  merge: Merge,
  flipped: Relation,
  workFolder: string,
): Promise<StagedTable[]> {
  const { graph, found } = staging;
  const derived = listDerived();
  const isFollowing = (one: DerivedTable) => isMadeOfItems(found, one);
  const products = derived.some(isFollowing) ? await findChangedProducts(graph, merge, flipped, next) : undefined;
  const few = products !== undefined && products.count * FEW_PRODUCTS <= countRows(found.tables.products.files);
  const queries = derived.flatMap(({ by, query }) => (by === 'product' ? [query] : []));
  const parts = new ProductParts(graph, {
    folder: path.join(workFolder, 'products'),
    queries,
  });
  const readChanged = async ({ rows }: ChangedProducts) =>
    graph.table(
      'changed_items',
      sql`SELECT ${code(selectNamedColumns('items', [...queries, 'product_id']))}
      FROM ${await next.rows('items')} SEMI JOIN ${rows} USING (product_id)`,
    );
  const items: Made = { isKept: true, ...(few && products.count > 0n ? { changed: await readChanged(products) } : {}) };
  // Groups of whole tables hold much memory: one is made after the other.
  const inTurn = pLimit(1);
  const countItems = once(async () => graph.count(await next.rows('items')));
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
    const deriving = { merge, staging, next: withMade(next, reads), one };
    if (othersStay && one.by === 'product' && few) return renewProducts(deriving, products, reads);
    const renamed = othersStay && one.by === 'brand' ? await findRenamedProducts(deriving) : undefined;
    if (renamed !== undefined && renamed.count <= FEW_RENAMED) return renewBrands(deriving, renamed);
    if (othersStay && one.by === 'site') return renewSites(deriving);
    if (othersStay && one.by === 'brand') return remakeDifferent(deriving);
    const staged = await inTurn(() => remake(deriving, parts, countItems));
    return { staged, isKept: false };
  };
  for (const one of derived) made.set(one.table, begin(make(one)));
  return (await settleAll([...made.values()])).flatMap(({ staged }) => staged ?? []);
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
function isMadeOfItems({ tables, repairs }: FoundLake, { table, hash }: DerivedTable): boolean {
  const { version, applied } = tables[table];
  const isOfItems = version >= 0n && applied.itemsVersion === tables.items.version && applied.query === hash;
  return isOfItems && Object.keys(repairs).length === 0;
}

/** Makes all rows of a table, and writes it where its rows are others than it has. */
async function remakeDifferent(deriving: Deriving): Promise<Made> {
  const { merge, staging, next, one } = deriving;
  const { graph, runId, found } = staging;
  const { table } = one;
  const note = noteOrigin(deriving);
  if (merge.changed === 0n) return { staged: await staging.stage(table, KEEP, note), isKept: true };
  const select = selectDerived(one, await readAll(next, one.reads), runId);
  const rows = graph.table(`next_${table}`, select);
  const stored = await found.before.table(table);
  const values = columnsOf(table, ['run_id']);
  const difference = await graph.row(
    sql`SELECT 1 FROM (SELECT ${values}, 1 AS side FROM ${rows} UNION ALL SELECT ${values}, -1 FROM ${stored.rows})
     GROUP BY ${values} HAVING sum(side) <> 0 LIMIT 1`,
  );
  const isKept = difference === undefined;
  const change = isKept ? KEEP : replaceAll(found.tables[table], sql`SELECT ${columnsOf(table)} FROM ${rows}`);
  return { staged: await staging.stage(table, change, note), isKept };
}

/** Makes all rows of a table: those of one part of the products after the other, where there are many. */
async function remake(
  deriving: Deriving,
  parts: ProductParts,
  countItems: () => Promise<bigint>,
): Promise<StagedTable> {
  const { staging, next, one } = deriving;
  const { remove } = replaceAll(staging.found.tables[one.table], undefined);
  const tables = await readAll(next, one.reads);
  const divided: readonly Partial<Record<TableName, Source>>[] =
    one.by === 'product' ? await parts.divide(tables, await countItems()) : [tables];
  const selects = divided.map((part) => selectDerived(one, part, staging.runId));
  return staging.stageParts(one.table, { remove }, selects, noteOrigin(deriving));
}
