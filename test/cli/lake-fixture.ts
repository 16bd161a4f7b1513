import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DayRange, selectDailySpreads } from '../../src/analyze/daily-spread.js';
import { commitTable } from '../../src/lake/commit.js';
import { openLake } from '../../src/lake/lake.js';
import { publishPointer } from '../../src/lake/publish.js';
import { stageTable } from '../../src/lake/stage.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { itself } from '../../src/sql/sql.js';
import { TABLE_NAMES } from '../../src/tables/table.js';
import { fillDerived, insertRows, openEmptyTables, type Row } from '../check/lake-world.js';

export const CREDIT = 'Open Prices, CC BY 4.0';
const AT = new Date('2026-11-20T09:00:00Z');

const tea = { category_name: "'Tea'", category_slug: "'hot-drinks-tea'", category_path: "'Hot drinks > Tea'" };
const green = {
  category_name: "'Green tea'",
  category_slug: "'hot-drinks-tea-green'",
  category_path: "'Hot drinks > Tea > Green tea'",
};
const pair = (id: number, product: string, category: typeof tea) =>
  [1, 2].map((site) => ({
    ...{
      item_id: String(id * 10 + site),
      site_id: String(site),
      product_id: `'${product}'`,
      brand: "'Acme'",
      last_seen_at: "TIMESTAMPTZ '2026-01-20 00:00:00Z'",
    },
    ...category,
  }));
/** Two teas of two shops each, one of them in a subcategory. */
export const TEAS: Row[] = [...pair(1, 'tea-1', tea), ...pair(2, 'tea-2', green)];

/**
 * A copy of a published lake, which the test may change. Each distinct lake is made once for all files of tests.
 */
export async function publishLake(items: Row[] = [], days?: DayRange): Promise<string> {
  const key = createHash('sha256').update(JSON.stringify([items, days]));
  const template = join(tmpdir(), `published-lake-${key.digest('hex').slice(0, 16)}`);
  if (!existsSync(template)) {
    // Another worker may have made it in the meantime.
    await rename(await makePublishedLake(items, days), template).catch((error) => {
      if (!existsSync(template)) throw error;
    });
  }
  const lake = join(await mkdtemp(join(tmpdir(), 'pricelake-cli-')), 'lake');
  await cp(template, lake, { recursive: true });
  return lake;
}

/**
 * A published lake: a kettle in three shops, one of them of open data, and a lamp in one; titles hold what terminals
 * must not act on. `items` adds rows; `days` are those of price_spread_daily.
 */
async function makePublishedLake(items: Row[], days: DayRange | undefined): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'pricelake-cli-')), 'lake');
  const lake = await openLake(path, { create: true });
  const db = await openEmptyTables();
  await insertRows(db, 'sites', [
    { name: "'Alpha'" },
    { site_id: '2', name: "'Beta'", attribution: `'${CREDIT}'` },
    { site_id: '3', name: "'茶店'" },
  ]);
  await insertRows(db, 'items', [
    { item_id: '9007199254740993', title: "'Kettle \x1b[31m red'", price: '10.0001' },
    { item_id: '9007199254740994', site_id: '2', price: '15' },
    { item_id: '9007199254740995', site_id: '3', price: '20' },
    {
      item_id: '9007199254740996',
      product_id: "'lamp-1'",
      gtin: 'NULL',
      gtin14: 'NULL',
      price: 'NULL',
      currency: 'NULL',
    },
    ...items,
  ]);
  await insertRows(db, 'history', [{}]);
  await insertRows(db, 'runs', [
    {
      pipeline: "'prices'",
      reason: "'first run'",
      mode: "'snapshot'",
      started_at: "TIMESTAMPTZ '2026-11-20 08:59:00Z'",
      finished_at: "TIMESTAMPTZ '2026-11-20 09:00:00Z'",
      seconds: '60',
      tries: '1',
      cursor_to: '42',
      caught_up: 'true',
      calls: '7',
      overage: 'false',
      bytes_received: '100',
      differences: '0',
      gone: '0',
      sampled: '0',
      sample_mismatches: '0',
      mismatch_bound: '1',
      products_compared: '0',
      products_different: '0',
      items: '4',
      pricelake_version: "'0.1.0'",
      duckdb_version: "'1.5.6'",
    },
  ]);
  await fillDerived(db);
  if (days !== undefined) {
    const sources = { items: itself('items'), history: itself('history'), sites: itself('sites') };
    for await (const rows of selectDailySpreads(new RelationGraph(db), sources, { ...days, runId: 'r1' }))
      await db.run(`INSERT INTO price_spread_daily ${rows.text}`);
  }
  for (const table of TABLE_NAMES) {
    const add = await stageTable(db, lake, { table, runId: 'r1', select: `SELECT * FROM ${table}` });
    const change = { table, add, remove: [], applied: { cursor: 42n, run: 1n } };
    await commitTable(lake, change, { runId: 'r1', operation: 'WRITE', at: AT });
  }
  await db.close();
  await publishPointer(lake, { pipeline: 'prices', runId: 'r1', runNumber: 1n, cursor: 42n, at: AT, attributions: [] });
  return path;
}
