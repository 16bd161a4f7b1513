import path from 'node:path';
import { isNamedId } from '../../formats/row-id.js';
import type { RelationGraph } from '../../sql/graph.js';
import { bindModel } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql } from '../../sql/sql.js';
import type { LookAtRow } from '../../tables/table.js';
import { separateBadRows } from '../../typing/bad-row-reader.js';
import type { LandedFile } from '../../typing/landed.js';
import { landedProductsSql, PRODUCT_FIELDS } from '../../typing/landed-products.js';
import { observeRows, quoteFile } from '../../typing/observe.js';
import { isFaultOfRows } from '../../typing/type-file.js';

interface ProductFile {
  path: string;
  readAt: string;
}

/** Types the products that were downloaded from the service. Rows that can't be read are skipped and counted. */
export async function typeServiceProducts(
  graph: RelationGraph,
  files: readonly ProductFile[],
  { runId, workFolder, look }: { runId: string; workFolder: string; look: LookAtRow },
): Promise<{ rows: Relation; unreadable: number }> {
  await observeRows(files, (row) => look('/products', row));
  const landed: LandedFile[] = [];
  for (const { path, readAt } of files) landed.push(await quoteFile(path, readAt, workFolder));
  const readAt = files.at(-1)?.readAt ?? new Date(0).toISOString();
  const type = async (some: readonly LandedFile[]) => {
    const rows = graph.table('service_products', bindProducts(some, readAt, runId));
    await rows.made;
    return rows;
  };
  try {
    return { rows: await type(landed), unreadable: 0 };
  } catch (error) {
    if (!isFaultOfRows(error)) throw error;
  }
  const separated = await Promise.all(files.map((file) => separateProducts(file, workFolder)));
  const rows = await type(separated.map(({ good }) => good));
  return { rows, unreadable: separated.reduce((sum, { bad }) => sum + bad, 0) };
}

function bindProducts(files: readonly LandedFile[], readAt: string, runId: string): Sql {
  const empty = `SELECT CAST(NULL AS VARCHAR) AS id, CAST(NULL AS VARCHAR) AS title, CAST(NULL AS VARCHAR) AS brand,
    CAST(NULL AS VARCHAR) AS mpn, CAST(NULL AS VARCHAR) AS gtin, CAST(NULL AS VARCHAR) AS offers,
    CAST(NULL AS VARCHAR) AS shops, CAST(NULL AS VARCHAR) AS category_slug, [] AS prices WHERE false`;
  const rows = files.length === 0 ? empty : files.map(landedProductsSql).join('\nUNION ALL BY NAME ');
  return bindModel('service_products', { landed_products: code(rows) }, { read_at: readAt, run_id: runId });
}

async function separateProducts({ path: source, readAt }: ProductFile, workFolder: string) {
  const part = path.basename(source);
  const [goodPath, badPath] = [path.join(workFolder, `${part}.good`), path.join(workFolder, `${part}.bad`)];
  const { bad } = await separateBadRows({ path: source, fields: PRODUCT_FIELDS, goodPath, badPath, fitId: isNamedId });
  const good: LandedFile = { path: goodPath, layout: 'separated', marked: true, part, readAt };
  return { good, bad };
}
