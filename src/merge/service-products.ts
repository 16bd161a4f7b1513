import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import type { LookAtRow } from '../tables/table.js';
import { landedProductsSql } from '../typing/landed.js';
import { observeRows } from '../typing/observe.js';
import { quoteFile } from '../typing/quote-file.js';

/** Types landed products of the service into table `landed_service_products`. */
export async function loadServiceProducts(
  db: Database,
  files: readonly { path: string; readAt: string }[],
  workFolder: string,
  look: LookAtRow,
): Promise<void> {
  await observeRows(
    files.map(({ path }) => path),
    (row) => look('/products', row),
  );
  const selects: string[] = [];
  for (const { path, readAt } of files) {
    selects.push(landedProductsSql(await quoteFile(path, readAt, workFolder)));
  }
  const empty = `SELECT CAST(NULL AS VARCHAR) AS id, CAST(NULL AS VARCHAR) AS title, CAST(NULL AS VARCHAR) AS brand,
    CAST(NULL AS VARCHAR) AS mpn, CAST(NULL AS VARCHAR) AS gtin, CAST(NULL AS VARCHAR) AS offers,
    CAST(NULL AS VARCHAR) AS shops, CAST(NULL AS VARCHAR) AS category_slug, [] AS prices WHERE false`;
  const rows = selects.length === 0 ? empty : selects.join('\nUNION ALL BY NAME ');
  await db.run('SET VARIABLE read_at = $1', [files.at(-1)?.readAt ?? new Date(0).toISOString()]);
  await db.run(`CREATE OR REPLACE VIEW landed_products AS ${rows}`);
  await db.run(`CREATE OR REPLACE TABLE landed_service_products AS ${readModel('service_products')}`);
}
