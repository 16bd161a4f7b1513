import { eachDailySpread } from '../analyze/daily-spread.js';
import { itself } from '../duckdb/connection.js';
import { quoteLiteral } from '../duckdb/quote.js';
import { isEmptyFile } from '../lake/data-file.js';
import { tablePath } from '../lake/layout.js';
import { requireFiles } from '../lake/partial.js';
import { selectColumns } from '../merge/batch.js';
import type { DataFile } from '../tables/table.js';
import { type RelationOptions, tableRelation, toRelationFile } from '../tables/table-relation.js';
import { type DailyChange, type DailyStage, formatDay } from './daily-stage.js';

const TABLE = 'price_spread_daily';

/**
 * Makes the kept days again of the products that the run learned something about: a change that came after its day was
 * closed, or an item that is new, or of another product, website or currency than before. Only rows that differ are
 * replaced, so files that show the same stay as they are.
 */
export async function redoDays(daily: DailyStage, kept: bigint, change: DailyChange): Promise<void> {
  const { db } = daily;
  const last = formatDay(kept);
  await findTouchedProducts(daily, last);
  const touched = await db.row("SELECT strftime(min(from_day), '%Y-%m-%d') AS first FROM touched_products");
  if (touched?.first === null || touched?.first === undefined) return;
  const first = String(touched.first);
  await remakeDays(daily, { first, last });
  const files = withRows(daily).filter((file) => (readDays(file)?.last ?? first) >= first);
  await requireFiles(daily.lake, TABLE, files);
  const values = selectColumns(TABLE).replace(', "run_id"', '');
  await db.run(`CREATE OR REPLACE TABLE old_days AS
    SELECT ${values} FROM ${readFiles(daily, files)} JOIN touched_products USING (product_id)
    WHERE day >= CAST(${quoteLiteral(first)} AS DATE) AND day >= from_day`);
  await db.run(`CREATE OR REPLACE TABLE void_days AS
    SELECT product_id, currency, day FROM (FROM old_days EXCEPT FROM remade_days)`);
  change.remove = await findVoidFiles(daily, files);
  const others = `SELECT ${selectColumns(TABLE)} FROM ${readFiles(daily, change.remove)}
    ANTI JOIN void_days USING (product_id, currency, day)`;
  change.add.push(
    ...(await daily.stage(`SELECT ${values}, CAST(getvariable('run_id') AS VARCHAR) AS run_id
      FROM (FROM remade_days EXCEPT FROM old_days) UNION ALL ${others}`)),
  );
  for (const name of ['touched_products', 'remade_days', 'old_days', 'void_days']) await db.run(`DROP TABLE ${name}`);
}

/**
 * Table `touched_products`: products and the first of the kept days that may be different. The first change that is
 * known of an item also says what was before it.
 */
async function findTouchedProducts(daily: DailyStage, last: string): Promise<void> {
  const { db, itemsBefore } = daily;
  const first = (await findFirstDay(daily)) ?? last;
  // Without items before there is nothing to compare with: a rebuild begins with a copy.
  const before = itemsBefore ?? '(FROM items WHERE false)';
  const none = itemsBefore === undefined ? 'AND false' : '';
  await db.run(
    `CREATE OR REPLACE TABLE touched_products AS
     WITH news AS (
       -- A change may take the place of a difference that was dated up to two minutes before it.
       SELECT item_id, timezone('UTC', observed_at - INTERVAL 2 MINUTE)::DATE AS day FROM history
       WHERE run_id = getvariable('run_id')
     ),
     late AS (
       SELECT item_id, min(day) AS day FROM news WHERE day <= CAST($2 AS DATE) GROUP BY item_id
     ),
     late_items AS (
       SELECT item_id, min(late.day) AS day, arg_min(run_id, observed_at) = getvariable('run_id') AS is_first
       FROM history JOIN late USING (item_id)
       GROUP BY item_id
     ),
     present AS NOT MATERIALIZED (
       SELECT item_id, product_id, site_id, currency, run_id,
         greatest(coalesce(timezone('UTC', first_seen_at)::DATE, CAST($1 AS DATE)), CAST($1 AS DATE)) AS seen_day
       FROM items
     )
     SELECT product_id, min(from_day) AS from_day FROM (
       SELECT product_id, CASE WHEN is_first THEN least(day, seen_day) ELSE day END AS from_day
       FROM late_items JOIN present USING (item_id)
       UNION ALL
       SELECT unnest([before.product_id, present.product_id]), seen_day
       FROM present
       LEFT JOIN ${before} AS before USING (item_id)
       WHERE present.run_id = getvariable('run_id') ${none}
         AND (before.item_id IS NULL OR (before.product_id, before.site_id, before.currency)
           IS DISTINCT FROM (present.product_id, present.site_id, present.currency))
     )
     WHERE product_id IS NOT NULL AND from_day <= CAST($2 AS DATE)
     GROUP BY product_id`,
    [first, last],
  );
}

/** The first day that the table reaches back to, as `2026-11-20`. Only files of which the log does not say it are read. */
async function findFirstDay(daily: DailyStage): Promise<string | undefined> {
  const { db, lake, table } = daily;
  const { firstDay } = table.applied;
  const noted = withRows(daily).flatMap((file) => readDays(file)?.first ?? []);
  const known = [...noted, ...(firstDay === undefined ? [] : [formatDay(firstDay)])].sort()[0];
  const others = withRows(daily).filter((file) => readDays(file) === undefined);
  await requireFiles(lake, TABLE, others);
  const row = await db.row(
    `SELECT least(min(day), CAST($1 AS DATE))::VARCHAR AS day FROM ${readFiles(daily, others)}`,
    [known ?? null],
  );
  return row?.day === null || row === undefined ? undefined : String(row.day);
}

/** Table `remade_days`: the rows of the touched products, as they are by what is known now. */
async function remakeDays({ db }: DailyStage, range: { first: string; last: string }): Promise<void> {
  const values = selectColumns(TABLE).replace(', "run_id"', '');
  await db.run(`CREATE OR REPLACE TABLE remade_days AS SELECT ${values} FROM ${tableRelation(TABLE, [])} WHERE false`);
  await db.substitute('items', `SELECT * FROM ${itself('items')} SEMI JOIN touched_products USING (product_id)`, () =>
    eachDailySpread(db, range, (select) =>
      db.run(`INSERT INTO remade_days SELECT ${values} FROM (${select}
        ) JOIN touched_products USING (product_id) WHERE day >= from_day`),
    ),
  );
}

const withRows = ({ table }: DailyStage) => table.files.filter((file) => !isEmptyFile(file));

/** The first and the last day of a file's rows, by its statistics; undefined where there are none. */
function readDays({ stats }: DataFile): { first: string; last: string } | undefined {
  const { minValues, maxValues } = JSON.parse(stats) as Record<'minValues' | 'maxValues', { day?: string } | undefined>;
  const [first, last] = [minValues?.day, maxValues?.day];
  return first === undefined || last === undefined ? undefined : { first, last };
}

async function findVoidFiles(daily: DailyStage, files: DataFile[]): Promise<DataFile[]> {
  const { db } = daily;
  if (files.length === 0) return [];
  const relation = readFiles(daily, files, { more: 'filename = true' });
  const rows = await db.rows(
    `SELECT DISTINCT filename FROM ${relation} SEMI JOIN void_days USING (product_id, currency, day)`,
  );
  const names = new Set(rows.map(({ filename }) => filename));
  return files.filter((file) => names.has(absolutePath(daily, file)));
}

function readFiles(daily: DailyStage, files: readonly DataFile[], options?: RelationOptions): string {
  const paths = files.map((file) => toRelationFile(file, absolutePath(daily, file)));
  return tableRelation(TABLE, paths, options);
}

function absolutePath({ lake }: DailyStage, file: DataFile): string {
  return tablePath(lake, TABLE, file.path);
}
