/**
 * node floor-analysis.mjs spread|daily|checks|report LAKE OUT [DAYS]
 * Runs the SQL that a user would write by hand for the same Parquet files, in DuckDB with its default memory limit.
 * `spread` and `daily` compute quartiles in floating point, and leave out outliers, credits, syncs and commits.
 * `checks` and `report` run only the package's own SQL files, one after another.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { Database } from '../dist/sql/connection.js';

const [what, lake, out, days = '90'] = process.argv.slice(2);
const FIGURES = `count(*) AS offers, count(DISTINCT site_id) AS shops, min(price) AS lowest,
  quantile_cont(price, [0.25, 0.5, 0.75]) AS quartiles, max(price) AS highest, avg(price) AS mean,
  stddev(price) AS deviation, max(price) - min(price) AS spread, 100 * (max(price) - min(price)) / min(price) AS pct,
  arg_min(site_id, price) AS cheapest, arg_max(site_id, price) AS dearest`;
const OF_GROUPS = 'GROUP BY ALL HAVING min(site_id) <> max(site_id)';
const REPORT = `report_overview report_runs report_checks report_datasets changes_by_day spread_summary spread_histogram
  spread_by_day spread_by_category widest_spreads shop_index_by_category report_credits`.split(/\s+/);

const folder = (name) => new URL(`../pipelines/${name}/`, import.meta.url);
const db = await Database.open();
await db.run(`SET file_search_path = '${lake}'`);
await db.run(readFileSync(`${lake}/catalog.sql`, 'utf8'));
await db.run('SET preserve_insertion_order = false');
const copy = (select) => db.run(`COPY (${select}) TO '${out}' (FORMAT parquet, COMPRESSION zstd)`);

const work = {
  spread: () =>
    copy(`SELECT product_id, currency, ${FIGURES} FROM items
      WHERE is_listed AND price > 0 AND product_id IS NOT NULL AND currency IS NOT NULL ${OF_GROUPS}`),
  // A change's price is valid until the item's next change. One query for all days would need 20 GB of memory.
  daily: async () => {
    await db.run(`CREATE TEMP TABLE spans AS
      SELECT product_id, items.currency, site_id, told.price, first_day, last_day
      FROM (
        SELECT item_id, kind, price, observed_date AS first_day,
          lead(observed_date) OVER (PARTITION BY item_id ORDER BY observed_at, change_id) - 1 AS last_day
        FROM history
        WHERE kind <> 'CHANGED' OR price IS NOT NULL
      ) AS told
      JOIN items USING (item_id)
      WHERE kind <> 'REMOVED' AND told.price > 0 AND product_id IS NOT NULL`);
    const row = await db.row('SELECT max(observed_date)::VARCHAR AS day FROM history');
    mkdirSync(out);
    for (let back = Number(days); back > 0; back--) {
      const day = `(DATE '${row.day}' - ${back})`;
      await db.run(`COPY (SELECT ${day} AS day, product_id, currency, ${FIGURES} FROM spans
        WHERE first_day <= ${day} AND coalesce(last_day >= ${day}, true) ${OF_GROUPS})
        TO '${out}/${back}.parquet' (FORMAT parquet, COMPRESSION zstd)`);
    }
  },
  checks: async () => {
    for (const file of readdirSync(folder('checks'))) {
      const sql = readFileSync(new URL(file, folder('checks')), 'utf8');
      const values = sql.matchAll(/^-- parameter: (\w+) \w+ default (.+?): /gm);
      const bound = [...values].reduce(
        (text, [, name, value]) => text.replaceAll(`$${name}`, Number.isNaN(Number(value)) ? `'${value}'` : value),
        sql,
      );
      await db.rows(`SELECT count(*) FROM (${bound}\n)`);
    }
  },
  report: async () => {
    await db.run('SET VARIABLE min_shops = 2');
    for (const name of REPORT) await db.rows(readFileSync(new URL(`${name}.sql`, folder('analysis')), 'utf8'));
  },
};
await work[what]();
await db.close();
