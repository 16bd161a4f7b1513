/**
 * node derive.mjs spread|daily LAKE [DAYS]: what a run does for price_spread, or for the days of price_spread_daily:
 * figures made, files written, synced and read back, as a run does before it commits them.
 */
import { rm } from 'node:fs/promises';
import { eachDailySpread } from '../dist/analyze/daily-spread.js';
import { derivedSelects } from '../dist/analyze/derive.js';
import { openLake } from '../dist/lake/lake.js';
import { stageTable } from '../dist/lake/stage.js';
import { createTableViews } from '../dist/lake/views.js';
import { Database } from '../dist/sql/connection.js';

const [what, path, days] = process.argv.slice(2);
const lake = await openLake(path, { create: false });
const db = await Database.open({ memoryLimit: '800MB', tempDirectory: `${path}/_pricelake/bench` });
await createTableViews(db, lake);
await db.run('SET preserve_insertion_order = false');
await db.run("SET VARIABLE run_id = 'bench'");
const stage = (table) => (select) => stageTable(db, lake, { table, runId: 'bench', select });
if (what === 'daily') {
  const range = await db.row(
    'SELECT (last - $1::INTEGER)::VARCHAR AS first, (last - 1)::VARCHAR AS last FROM (SELECT max(observed_date) AS last FROM history)',
    [days],
  );
  await eachDailySpread(db, range, stage('price_spread_daily'));
} else for (const { table, select } of derivedSelects()) if (table === 'price_spread') await stage(table)(select);
await db.close();
await rm(`${path}/_pricelake/staging/bench`, { recursive: true });
