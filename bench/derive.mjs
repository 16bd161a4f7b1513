/**
 * node derive.mjs spread|daily LAKE [DAYS]
 * Computes price_spread, or the days of price_spread_daily, as a run does before it commits them. This includes writing,
 * syncing, and reading back the files.
 */
import { rm } from 'node:fs/promises';
import { selectDailySpreads } from '../dist/analyze/daily-spread.js';
import { listDerived, selectDerived } from '../dist/analyze/derived-tables.js';
import { openLake } from '../dist/lake/lake.js';
import { stageTable } from '../dist/lake/stage.js';
import { LakeRows } from '../dist/lake/table-rows.js';
import { readTables } from '../dist/run/open/open-tables.js';
import { Database } from '../dist/sql/connection.js';
import { RelationGraph } from '../dist/sql/graph.js';
import { createMacros } from '../dist/sql/model.js';
import { sql } from '../dist/sql/sql.js';

const [what, path, days] = process.argv.slice(2);
const lake = await openLake(path, { create: false });
const db = await Database.open({ memoryLimit: '800MB', tempDirectory: `${path}/_pricelake/bench` });
await db.run('SET preserve_insertion_order = false');
await createMacros(db);
const graph = new RelationGraph(db);
const rows = new LakeRows(graph, lake, await readTables(lake), () => 0n);
const readAll = async (names) =>
  Object.fromEntries(await Promise.all(names.map(async (name) => [name, await rows.rows(name)])));
const stage = async (table, select) => {
  await graph.ready(select);
  await stageTable(db, lake, { table, runId: 'bench', select: select.text });
};
if (what === 'daily') {
  const sources = await readAll(['items', 'history', 'sites']);
  const range = await graph.row(sql`SELECT (last - ${Number(days)})::VARCHAR AS first, (last - 1)::VARCHAR AS last
    FROM (SELECT max(observed_date) AS last FROM ${sources.history})`);
  for await (const part of selectDailySpreads(graph, sources, { ...range, runId: 'bench' }))
    await stage('price_spread_daily', part);
} else {
  const derived = listDerived().find(({ table }) => table === 'price_spread');
  await stage('price_spread', selectDerived(derived, await readAll(derived.reads), 'bench'));
}
await db.close();
await rm(`${path}/_pricelake/staging/bench`, { recursive: true });
