import path from 'node:path';
import type { Database } from '../duckdb/connection.js';
import { readModel } from '../duckdb/model-sql.js';
import type { LookAtRow } from '../tables/table.js';
import { separateBadRows } from '../typing/bad-row-reader.js';
import { type LandedFile, landedProductsSql, PRODUCT_FIELDS } from '../typing/landed.js';
import { observeRows } from '../typing/observe.js';
import { quoteFile } from '../typing/quote-file.js';
import { isFaultOfRows } from '../typing/type-file.js';

interface ProductFile {
  path: string;
  readAt: string;
}

/**
 * Types landed products of the service into table `landed_service_products`. Returns how many rows can't be read: these
 * are left out.
 */
export async function loadServiceProducts(
  db: Database,
  files: readonly ProductFile[],
  workFolder: string,
  look: LookAtRow,
): Promise<number> {
  await observeRows(
    files.map(({ path }) => path),
    (row) => look('/products', row),
  );
  const landed: LandedFile[] = [];
  for (const { path, readAt } of files) landed.push(await quoteFile(path, readAt, workFolder));
  await db.run('SET VARIABLE read_at = $1', [files.at(-1)?.readAt ?? new Date(0).toISOString()]);
  try {
    await typeProducts(db, landed);
    return 0;
  } catch (error) {
    if (!isFaultOfRows(error)) throw error;
  }
  const separated = await Promise.all(files.map((file) => separateProducts(file, workFolder)));
  await typeProducts(
    db,
    separated.map(({ good }) => good),
  );
  return separated.reduce((sum, { bad }) => sum + bad, 0);
}

async function typeProducts(db: Database, files: readonly LandedFile[]): Promise<void> {
  const empty = `SELECT CAST(NULL AS VARCHAR) AS id, CAST(NULL AS VARCHAR) AS title, CAST(NULL AS VARCHAR) AS brand,
    CAST(NULL AS VARCHAR) AS mpn, CAST(NULL AS VARCHAR) AS gtin, CAST(NULL AS VARCHAR) AS offers,
    CAST(NULL AS VARCHAR) AS shops, CAST(NULL AS VARCHAR) AS category_slug, [] AS prices WHERE false`;
  const rows = files.length === 0 ? empty : files.map(landedProductsSql).join('\nUNION ALL BY NAME ');
  await db.run(`CREATE OR REPLACE VIEW landed_products AS ${rows}`);
  await db.run(`CREATE OR REPLACE TABLE landed_service_products AS ${readModel('service_products')}`);
}

/** The rows of a file that can be read. */
async function separateProducts({ path: source, readAt }: ProductFile, workFolder: string) {
  const part = path.basename(source);
  const [goodPath, badPath] = [path.join(workFolder, `${part}.good`), path.join(workFolder, `${part}.bad`)];
  const isId = (name: string) => name === 'id';
  const { bad } = await separateBadRows({ path: source, fields: PRODUCT_FIELDS, goodPath, badPath, isId });
  const good: LandedFile = { path: goodPath, layout: 'separated', marked: true, part, readAt };
  return { good, bad };
}
