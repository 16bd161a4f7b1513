import type { Database } from '../duckdb/connection.js';
import { quoteLiteral } from '../duckdb/quote.js';
import type { DataFile, TableState } from '../tables/table.js';
import { tableRelation, toRelationFile } from '../tables/table-relation.js';
import { FEW_ROWS, selectColumns } from './batch.js';

/** A published file of items and its place. */
export interface ItemsFile extends DataFile {
  absolutePath: string;
}

/**
 * Where the rows so far are. `first`: whole rows make the lake. `lake`: the published files that hold touched items.
 * `poll`: the same, and whole rows of items that changed take their place. `reload`: as `poll`, with whole rows of all
 * items; what they lack is marked gone.
 */
export type MergeBase = { kind: 'first' } | LakeBase;

export interface LakeBase extends Pick<TableState, 'hasOlderFiles'> {
  kind: 'lake' | 'poll' | 'reload';
  files: ItemsFile[];
  /** True where table `kept_items` has the rows of the files. */
  isKept: boolean;
  /** True where all rows are written again, into files of another layout. */
  isRewritten?: boolean;
}

/**
 * Makes `base_items`: the rows so far of all items that may change. Needs `exported_items`, `pending_changes`, tables
 * `different_items` (compareItems) and `rejected_items`, and behind `renamed` tables `renamed_sites` and
 * `renamed_datasets`.
 */
export async function createMergeBase(db: Database, base: MergeBase, renamed: 'unknown' | 'known'): Promise<void> {
  if (base.kind === 'first') return db.define('view', 'base_items', 'SELECT * FROM exported_items');
  const ids = `SELECT item_id FROM pending_changes WHERE item_id IS NOT NULL
    UNION SELECT item_id FROM different_items UNION SELECT item_id FROM stale_items
    UNION SELECT item_id FROM doubted_items UNION SELECT item_id FROM rejected_items`;
  const names = ` OR site_id IN (SELECT site_id FROM renamed_sites)
    OR list_has_any(datasets, (SELECT list(former) FROM renamed_datasets))`;
  const condition = `item_id IN (${ids})${renamed === 'known' ? names : ''}`;
  if (base.kind === 'lake') return createLakeBase(db, base, condition);
  const select = await selectLakeBase(db, base, condition);
  const news = 'FROM exported_items SEMI JOIN different_items USING (item_id)';
  const different = await db.row('SELECT count(*) AS n FROM different_items');
  await db.define(
    base.isKept && (different?.n as bigint) <= FEW_ROWS ? 'table' : 'view',
    'base_items',
    `SELECT ${selectColumns('items')} ${news} UNION ALL SELECT * FROM (${select}) ANTI JOIN (${news}) USING (item_id)`,
  );
}

/**
 * Makes `base_items` of the lake's rows of a condition, and table `base_places`: the items, and the files that they are
 * in. Few rows are read once: each statement over files opens every column of each of them again.
 */
async function createLakeBase(db: Database, base: LakeBase, condition: string): Promise<void> {
  const columns = selectColumns('items');
  await db.define(
    'table',
    'base_places',
    base.files.length === 0
      ? 'SELECT item_id, NULL::VARCHAR AS filename FROM items WHERE false'
      : `SELECT item_id, filename FROM ${readFiles(base.files, base, 'filename')} WHERE ${condition}`,
  );
  const touched = await listFiles(db, base, 'base_places');
  const rows = `SELECT ${columns} FROM ${touched.length === 0 ? 'items WHERE false' : readFiles(touched, base)}`;
  const places = await db.row('SELECT count(*) AS n FROM base_places');
  if (touched.length === 0 || (places?.n as bigint) > FEW_ROWS) return db.define('view', 'base_items', rows);
  await db.define('table', 'base_items', `${rows} SEMI JOIN base_places USING (item_id)`);
}

async function selectLakeBase(db: Database, base: LakeBase, condition: string): Promise<string> {
  const columns = selectColumns('items');
  if (base.isKept) return `SELECT ${columns} FROM items WHERE ${condition}`;
  const touched = await findFilesWith(db, base, condition);
  return `SELECT ${columns} FROM ${touched.length === 0 ? 'items WHERE false' : readFiles(touched, base)}`;
}

/** The published files that hold rows of a condition. */
export async function findFilesWith(db: Database, base: LakeBase, condition: string): Promise<ItemsFile[]> {
  if (base.files.length === 0) return [];
  return listFiles(db, base, `${readFiles(base.files, base, 'filename')} WHERE ${condition}`);
}

/** The published files that column `filename` of a relation names. */
export async function listFiles(db: Database, { files }: LakeBase, relation: string): Promise<ItemsFile[]> {
  const rows = await db.rows(`SELECT DISTINCT filename FROM ${relation}`);
  const names = new Set(rows.map((row) => row.filename));
  return files.filter((file) => names.has(file.absolutePath));
}

/** SQL of the rows of published files; with `filename`, each with its file. */
export function readFiles(files: ItemsFile[], { isKept, ...base }: LakeBase, more?: 'filename'): string {
  if (isKept) {
    const paths = files.map(({ absolutePath }) => quoteLiteral(absolutePath));
    const some = files.length === base.files.length ? '' : ` WHERE filename IN (${paths.join(', ') || 'NULL'})`;
    return `(SELECT * ${more === undefined ? 'EXCLUDE (filename) ' : ''}FROM kept_items${some})`;
  }
  const relations = files.map((file) => toRelationFile(file, file.absolutePath));
  return tableRelation('items', relations, {
    hasOlderFiles: base.hasOlderFiles,
    ...(more === undefined ? {} : { more: 'filename = true' }),
  });
}
