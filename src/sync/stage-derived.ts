import path from 'node:path';
import { type DerivedSelect, listDerivedLevels } from '../analyze/derive.js';
import type { Database } from '../duckdb/connection.js';
import { quoteIdentifier } from '../duckdb/quote.js';
import { settleAll } from '../io/side-by-side.js';
import { createTableViews, FEW_ROWS } from '../lake/views.js';
import { selectColumns } from '../merge/batch.js';
import { createChangedProducts } from '../merge/changed-products.js';
import type { Run } from '../run/open-run.js';
import { NEWS_TABLES } from '../run/read-tables.js';
import { selectNamedColumns } from '../tables/named-columns.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { Applied, Candidate, DataFile, TableName, TableState } from '../tables/table.js';
import { type RelationOptions, tableRelation, toRelationFile } from '../tables/table-relation.js';
import type { Batch } from './normalize.js';
import { isByProduct, ProductParts } from './product-parts.js';

/** Adds a change of a table to the candidate: the rows of a select in place of files. */
export type AddTable = (
  table: TableName,
  select: string | undefined,
  remove: DataFile[],
  applied?: Partial<Applied>,
  maxRows?: bigint,
) => Promise<void>;

/** While rows of the next tables are made in the run's session, those that are written go into files in another. */
interface DerivedSessions {
  add: AddTable;
  beside: Database;
  addBeside: AddTable;
}

/** The products whose rows of derived tables may become different. */
export interface ChangedProducts {
  count: bigint;
  /** False where so many changed that all are computed. */
  few: boolean;
}

/** Finds the products that changed, and reads their rows of derived tables: that needs nothing of the next items. */
export async function prepareDerived(run: Run, batch: Batch): Promise<ChangedProducts> {
  const { db, lake, tables } = run;
  const made = listDerivedLevels()
    .flat()
    .filter(({ table, query }) => isMadeOfItems(run, table, query));
  const count = batch.merge.changed === 0n || made.length === 0 ? 0n : await createChangedProducts(db);
  const few = count * FEW_PRODUCTS <= countRows(tables.products);
  if (few && count > 0n) {
    for (const { table, byProduct } of made) if (byProduct) await storeRows(db, lake.root, tables[table]);
  }
  return { count, few };
}

/**
 * Stages the derived tables, level by level. Where the lake's rows follow from the items before the run, only products
 * with changed offers are computed, and only files that hold rows which became different are written again.
 */
export async function stageDerived(
  run: Run,
  batch: Batch,
  { count: changed, few }: ChangedProducts,
  candidate: Candidate,
  { add, beside, addBeside }: DerivedSessions,
): Promise<void> {
  const { db, lake, tables } = run;
  const itemsVersion = tables.items.version + (candidate.items === undefined ? 0n : 1n);
  const levels = listDerivedLevels();
  const follows = ({ table, query }: DerivedSelect) => isMadeOfItems(run, table, query);
  if (few && changed > 0n) await createChangedItems(db, levels.flat());
  const queries = levels.flat().flatMap(({ byProduct, select }) => (byProduct ? [select] : []));
  const parts = new ProductParts(db, { folder: path.join(run.workFolder, 'products'), queries });
  // Tables whose other rows stay as they are.
  const kept = new Set<TableName>(['items', ...(batch.sites === undefined ? (['sites'] as const) : [])]);
  const renewing: Promise<void>[] = [];
  const showRenewed = async () => {
    await settleAll(renewing.splice(0));
    await createTableViews(db, lake, candidate, { readOnce: FEW_ROWS, tables: NEWS_TABLES });
  };
  const makeTables = async (level: DerivedSelect[]) => {
    const renewed = level.filter((one) => follows(one) && one.reads.every((read) => kept.has(read)));
    const byProduct = few ? renewed.filter((one) => one.byProduct) : [];
    for (const derived of byProduct) {
      const { table, query } = derived;
      if (changed > 0n) await makeRows(db, derived, kept);
      const renew = async () => {
        const { select, remove } = changed === 0n ? NOTHING : await renewTable(beside, lake.root, tables[table]);
        await addBeside(table, select, remove, { itemsVersion, query });
      };
      renewing.push(begin(renew()));
      kept.add(table);
    }
    for (const { table, query, select } of renewed.filter((one) => !one.byProduct)) {
      const isKept = batch.merge.changed === 0n || (await isUnchanged(db, table, select));
      if (isKept) kept.add(table);
      const files = tables[table].files;
      await add(table, isKept ? undefined : `FROM made_${table}`, isKept ? [] : files, { itemsVersion, query });
    }
    const remade = level.filter((one) => !byProduct.includes(one) && (one.byProduct || !renewed.includes(one)));
    if (remade.length === 0) return;
    // They read tables of former levels as they will be.
    await showRenewed();
    await makeLevel(parts, remade, async ({ table, select, query }) => {
      const before = candidate[table]?.add ?? [];
      await add(table, select, tables[table].files, { itemsVersion, query });
      candidate[table]?.add.push(...before);
    });
  };
  try {
    for (const level of levels) await makeTables(level);
    await showRenewed();
  } finally {
    await Promise.allSettled(renewing);
  }
}

/** Whoever waits for it later gets its error. */
function begin<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

/** Table `changed_items`: what the derived tables read of the items of the changed products. */
async function createChangedItems(db: Database, derived: readonly DerivedSelect[]): Promise<void> {
  const texts = derived.filter(({ byProduct }) => byProduct).map(({ select }) => select);
  const columns = selectNamedColumns('items', [...texts, 'product_id']);
  await db.define(
    'table',
    'changed_items',
    `SELECT ${columns} FROM items SEMI JOIN changed_products USING (product_id)`,
  );
}

/** One changed product in so many is many. */
const FEW_PRODUCTS = 4n;
const NOTHING: Renewal = { select: undefined, remove: [] };

/** Rows that take the place of files; no select where none became different. */
interface Renewal {
  select: string | undefined;
  remove: DataFile[];
}

const countRows = ({ files }: TableState) => files.reduce((sum, { rows }) => sum + rows, 0n);

/** True where the same query made the table from the items before the run, and nothing was repaired since. */
function isMadeOfItems({ tables, repairs }: Run, table: TableName, query: bigint): boolean {
  const { version, applied, hasOlderFiles } = tables[table];
  const isOfItems = version >= 0n && applied.itemsVersion === tables.items.version && applied.query === query;
  return isOfItems && !hasOlderFiles && Object.keys(repairs).length === 0;
}

/** Makes a table that is not made by product, as `made_<table>`; true where its rows are those that it has. */
async function isUnchanged(db: Database, table: TableName, select: string): Promise<boolean> {
  await db.define('table', `made_${table}`, select);
  const values = selectValues(table);
  const row = await db.row(
    `SELECT 1 FROM (SELECT ${values}, 1 AS side FROM made_${table} UNION ALL SELECT ${values}, -1 FROM ${table})
     GROUP BY ${values} HAVING sum(side) <> 0 LIMIT 1`,
  );
  return row === undefined;
}

/** Table `made_<table>`: its rows of the changed products. */
async function makeRows(db: Database, { table, reads, select }: DerivedSelect, kept: ReadonlySet<TableName>) {
  const changed = reads.filter((one) => kept.has(one) && isByProduct(one));
  const rows = (one: TableName) => `SELECT * FROM ${one === 'items' ? 'changed_items' : `made_${one}`}`;
  await db.substituteEach(changed, rows, () => db.define('table', `made_${table}`, select));
}

const listPaths = (root: string, { table, files }: TableState) =>
  new Map(files.map((file) => [path.join(root, table, file.path), file]));

/** SQL of a relation of some files of a table. */
function relateFiles(
  { table, hasOlderFiles }: TableState,
  files: Iterable<[string, DataFile]>,
  options: RelationOptions = {},
): string {
  const relations = [...files].map(([path, file]) => toRelationFile(file, path));
  return tableRelation(table, relations, { hasOlderFiles, ...options });
}

/** Table `stored_<table>`: its rows of the changed products before the run, and their files. */
async function storeRows(db: Database, root: string, state: TableState): Promise<void> {
  const stored = relateFiles(state, listPaths(root, state), { more: 'filename = true' });
  const select = `SELECT * FROM ${stored} SEMI JOIN changed_products USING (product_id)`;
  await db.define('table', `stored_${state.table}`, select);
}

/** The rows of the changed products that take the place of files, and these files. Needs `made_` and `stored_<table>`. */
async function renewTable(db: Database, root: string, state: TableState): Promise<Renewal> {
  const { table } = state;
  const byPath = listPaths(root, state);
  const values = selectValues(table);
  await db.define(
    'table',
    `renewed_${table}`,
    `SELECT DISTINCT product_id FROM (SELECT ${values}, 1 AS side FROM made_${table}
      UNION ALL SELECT ${values}, -1 AS side FROM stored_${table}) GROUP BY ${values} HAVING sum(side) <> 0`,
  );
  const found = await db.rows(
    `SELECT DISTINCT filename FROM renewed_${table} LEFT JOIN stored_${table} USING (product_id)`,
  );
  if (found.length === 0) return NOTHING;
  const paths = found.flatMap(({ filename }) => (filename === null ? [] : [String(filename)]));
  // Products that are new go into the smallest file, so that few stay small.
  const smallest = [...byPath].sort(([, a], [, b]) => a.bytes - b.bytes)[0]?.[0];
  const replaced = paths.length > 0 || smallest === undefined ? paths : [smallest];
  const columns = selectColumns(table);
  const rewritten = replaced.map((path): [string, DataFile] => [path, byPath.get(path) as DataFile]);
  return {
    select: `SELECT ${columns} FROM ${relateFiles(state, rewritten)} ANTI JOIN renewed_${table} USING (product_id)
      UNION ALL SELECT ${columns} FROM made_${table} SEMI JOIN renewed_${table} USING (product_id)`,
    remove: rewritten.map(([, file]) => file),
  };
}

/** Columns that follow from other tables: a row that did not change keeps the id of the run that made it. */
function selectValues(table: TableName): string {
  const columns = loadTableSchema(table).columns.filter(({ name }) => name !== 'run_id');
  return columns.map(({ name }) => quoteIdentifier(name)).join(', ');
}

/** Makes the derived tables of a level: one part of the products after the other, and the other tables at once. */
export async function makeLevel<T extends Pick<DerivedSelect, 'byProduct' | 'reads'>>(
  parts: ProductParts,
  level: readonly T[],
  make: (one: T) => Promise<void>,
): Promise<void> {
  const byProduct = level.filter((one) => one.byProduct);
  const makeAll = async (tables: readonly T[]) => {
    for (const table of tables) await make(table);
  };
  if (byProduct.length > 0)
    await parts.each([...new Set(byProduct.flatMap(({ reads }) => reads))], () => makeAll(byProduct));
  await makeAll(level.filter((one) => !one.byProduct));
}
