import { openLake } from '../src/lake/lake.js';
import { Database } from '../src/sql/connection.js';
import { createMacros } from '../src/sql/model.js';
import { loadTableSchema } from '../src/tables/schemas.js';
import { DECLARED_TABLES, type TableName } from '../src/tables/table.js';
import { derivedSelects } from '../test/check/lake-world.js';
import { write } from '../test/lake/items.js';

const RUN_ID = 'bench';
const END = "TIMESTAMPTZ '2026-11-20 06:00:00Z'";

/**
 * Generates the tables `sites`, `items` and `history` in SQL: products sold by five of 60 shops, three currencies, 200
 * categories, and a year in which listings start, end, return, go on sale and get mistyped prices. Equal numbers
 * generate equal rows.
 */
const WORLD = `
CREATE MACRO part(i, salt) AS (hash(i * 1000003 + salt) % 1000000) / 1000000;
CREATE TABLE listing AS
  SELECT
    9007199254740993 + i AS item_id, i // 5 AS product, 1 + hash(i // 5 * 7 + i % 5) % 60 AS site_id, i,
    CASE WHEN site_id > 54 THEN 'CZK' WHEN site_id > 48 THEN 'PLN' ELSE 'EUR' END AS currency,
    exp(1 + 2 * part(i // 5, 1)) * CASE currency WHEN 'CZK' THEN 25 WHEN 'PLN' THEN 4.2 ELSE 1 END * (0.9 + 0.2 * part(i, 2)) AS base,
    round(2 * $changes / $items * part(i, 3))::INTEGER AS steps
  FROM range($items) AS of_items(i);
CREATE TABLE step AS
  SELECT
    *,
    CASE
      WHEN n = 0 AND part(i, 4) < 0.15 THEN 'NEW'
      WHEN n > 0 AND part(i, 10 + n - 1) < 0.03 AND (n > 1 OR part(i, 4) >= 0.15) AND part(i, 10 + n - 2) >= 0.03 THEN 'RELISTED'
      WHEN n > 0 AND part(i, 10 + n) < 0.03 AND part(i, 10 + n - 1) >= 0.03 THEN 'REMOVED'
      ELSE 'CHANGED'
    END AS kind,
    CASE WHEN part(i, 50 + n) > 0.05 OR n < 0
      THEN greatest(1, round(base * 100 * (1 - 0.1 * (hash(i * 31 + n) % 4)) * CASE WHEN part(i, 90 + n) < 0.0005 THEN 100 ELSE 1 END)) END AS cents,
    epoch_us(${END}) - 365 * 86400000000 + ((n + part(i, 130 + n)) / greatest(1, steps) * 364 * 86400000000)::BIGINT AS at_us
  FROM (SELECT *, unnest(range(-1, steps))::INTEGER AS n FROM listing);
CREATE TABLE told AS
  SELECT
    item_id, site_id, currency, n, kind, at_us,
    (last_value(cents IGNORE NULLS) OVER until_now * 0.01)::DECIMAL(18, 4) AS price,
    (last_value(cents IGNORE NULLS) OVER before * 0.01)::DECIMAL(18, 4) AS price_before
  FROM step
  WINDOW until_now AS (PARTITION BY item_id ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
    before AS (PARTITION BY item_id ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING);
CREATE TABLE last_told AS
  SELECT
    item_id,
    arg_max(price, n) AS price,
    arg_max(price_before, n) FILTER (price <> price_before) AS previous_price,
    max(at_us) FILTER (price <> price_before AND n >= 0) AS changed_us,
    max(at_us) FILTER (n >= 0) AS last_us,
    CASE WHEN arg_max(kind, n) = 'REMOVED' THEN max(at_us) END AS removed_us,
    CASE WHEN bool_or(kind = 'NEW') THEN min(at_us) FILTER (n >= 0) ELSE epoch_us(${END}) - 400 * 86400000000 END AS seen_us
  FROM told
  GROUP BY item_id;
`;

const NO_ROWS = 'SELECT NULL AS nothing WHERE false';
const ROWS: Partial<Record<TableName, string>> = {
  ...Object.fromEntries(['sources', ...DECLARED_TABLES].map((table) => [table, NO_ROWS])),
  sites: `SELECT s AS site_id, 'Shop ' || s AS name, 'shop-' || s || '.example' AS host,
    CASE WHEN s % 10 = 0 THEN 'Prices of Shop ' || s || ', CC BY 4.0' END AS attribution,
    ${END} - INTERVAL 400 DAY AS valid_from, true AS is_current FROM range(1, 61) AS of_sites(s)`,
  items: `SELECT item_id, 'Product ' || product || ', ' || (100 + product % 900) || ' g' AS title, 'Brand ' || product % 997 AS brand,
      (4000000000000 + product)::VARCHAR AS product_id, price, previous_price, make_timestamptz(changed_us) AS price_changed_at, currency,
      'https://shop-' || site_id || '.example/' || i AS url, 'Category ' || product % 200 AS category_name,
      'All > Category ' || product % 200 AS category_path, 'category-' || product % 200 AS category_slug, site_id, 'Shop ' || site_id AS site_name,
      make_timestamptz(seen_us) AS first_seen_at, coalesce(make_timestamptz(removed_us), ${END}) AS last_seen_at,
      make_timestamptz(last_us) AS last_changed_at, make_timestamptz(removed_us) AS removed_at, removed_us IS NULL AS is_listed, ${END} AS read_at
    FROM listing JOIN last_told USING (item_id)`,
  history: `SELECT row_number() OVER (ORDER BY at_us, item_id) AS change_id, item_id, kind, make_timestamptz(at_us) AS observed_at,
      make_timestamptz(at_us)::DATE AS observed_date, price, CASE WHEN price <> price_before AND kind <> 'NEW' THEN price_before END AS previous_price,
      currency, CASE WHEN kind = 'CHANGED' AND price <> price_before
        THEN '{"price":[' || price_before || ',' || price || ']}' WHEN kind = 'CHANGED' THEN '{"title":["a","b"]}' END AS changes,
      site_id, 'feed' AS origin
    FROM told WHERE n >= 0`,
};

/**
 * Makes a lake of this many items and about this many changes. A million items and five million changes take a minute.
 */
export async function makeSqlLake(
  folder: string,
  { items, changes }: { items: number; changes: number },
): Promise<void> {
  const lake = await openLake(folder, { create: true });
  const db = await Database.open();
  await createMacros(db);
  await db.run('SET preserve_insertion_order = false');
  await db.run('SET VARIABLE run_id = $1', [RUN_ID]);
  for (const statement of WORLD.replaceAll('$items', String(items))
    .replaceAll('$changes', String(changes))
    .split(';\n'))
    if (statement.trim() !== '') await db.run(statement);
  const publish = async (table: TableName, select: string) => {
    await write(db, lake, { table, select });
    await db.run(`CREATE OR REPLACE TABLE ${table} AS ${select}`);
  };
  for (const [table, select] of Object.entries(ROWS))
    await publish(table as TableName, await fillColumns(db, table as TableName, select));
  await db.run('DROP TABLE step; DROP TABLE told; DROP TABLE listing; DROP TABLE last_told');
  for (const { table, select } of derivedSelects()) await publish(table, select);
  await db.close();
}

/** Selects the table's columns in their order and types. Columns that the query lacks are null. */
async function fillColumns(db: Database, table: TableName, select: string): Promise<string> {
  const known = new Set((await db.rows(`DESCRIBE (${select})`)).map(({ column_name }) => column_name));
  const columns = loadTableSchema(table).columns.map(({ name, type }) =>
    name === 'run_id' ? `'${RUN_ID}' AS run_id` : `CAST(${known.has(name) ? name : 'NULL'} AS ${type}) AS ${name}`,
  );
  return `SELECT ${columns.join(', ')} FROM (${select})`;
}
