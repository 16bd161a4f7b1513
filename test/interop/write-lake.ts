import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openLake } from '../../src/lake/lake.js';
import { publishPointer } from '../../src/lake/publish.js';
import { readTable } from '../../src/lake/read.js';
import { Database } from '../../src/sql/connection.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import type { Lake } from '../../src/tables/layout.js';
import type { TableName } from '../../src/tables/table.js';
import { select, type Write, write } from '../lake/items.js';

/** Writes a lake for other readers, and beside it what they must find there: `write-lake.ts <folder>`. */
const folder = process.argv[2];
if (folder === undefined) throw new Error('usage: write-lake.ts <folder>');
await mkdir(join(folder, 'expected'), { recursive: true });
const lake: Lake = await openLake(join(folder, 'lake'), { create: true });
const db = await Database.open({ threads: 2 });
const start = Date.parse('2026-11-20T00:00:00Z');

interface Version extends Pick<Write, 'remove' | 'partitionBy'> {
  table: TableName;
  query: string;
  cursor?: bigint;
  version?: number;
}

async function writeVersion({ query, cursor = 1n, version = 0, ...change }: Version): Promise<void> {
  const at = new Date(start + version * 60_000);
  await write(db, lake, { ...change, select: query, applied: { cursor }, at });
}

async function expectRows(table: TableName, query: string): Promise<void> {
  const path = join(folder ?? '', 'expected', `${table}.parquet`);
  await db.run(`COPY (${query}) TO ${quoteLiteral(path)} (FORMAT parquet)`);
}

const item = {
  item_id: '9007199254740993 + i * 2',
  title: "CASE i % 4 WHEN 0 THEN repeat('🛒', 40) || i WHEN 1 THEN 'Títle ' || i WHEN 2 THEN '' END",
  price: 'CASE WHEN i % 7 = 0 THEN NULL ELSE 99999999999999.0001 - i END',
  datasets: "CASE WHEN i % 3 = 0 THEN ['a', NULL, 'ü'] WHEN i % 3 = 1 THEN [] END",
  site_id: 'i % 5',
  first_seen_at: "TIMESTAMPTZ '2026-01-01 00:00:00.000001+00' + to_microseconds(i * 1001)",
  last_seen_at: "CASE WHEN i = 3 THEN 'infinity' ELSE TIMESTAMPTZ '1969-12-31 23:59:59.999999+00' END",
  is_listed: 'i % 2 = 0',
  run_id: "'r1'",
};

// Twenty-three versions of a partitioned table: two checkpoints, commits after the last, partitions rewritten.
const items = (run: number) => select('items', { ...item, brand: `'run ' || ${run}` }, 'range(500) AS r(i)');
await writeVersion({ table: 'items', query: items(0), cursor: 9223372036854775000n });
for (let run = 1; run < 23; run += 1) {
  const site = String(run % 5);
  const remove = (await readTable(lake, 'items')).files.filter((file) => file.partitionValues.site_id === site);
  const query = `SELECT * FROM (${items(run)}) WHERE site_id = ${site}`;
  await writeVersion({ table: 'items', query, remove, cursor: 9223372036854775000n + BigInt(run), version: run });
}
const newest = [20, 21, 22, 18, 19].map((run, site) => `SELECT * FROM (${items(run)}) WHERE site_id = ${site}`);
await expectRows('items', newest.join(' UNION ALL '));

// A date as partition, appended to; days with one row.
const history = (from: number) =>
  select(
    'history',
    {
      change_id: '9223372036854775000 + i',
      kind: "'CHANGED'",
      observed_at: "TIMESTAMPTZ '2026-11-18 12:00:00.123456+00' + to_hours(i)",
      observed_date: "CAST(TIMESTAMP '2026-11-18 12:00:00.123456' + to_hours(i) AS DATE)",
      price: '-1.5 * i',
      origin: "'feed'",
      run_id: "'r1'",
    },
    `range(${from}, ${from} + 50) AS r(i)`,
  );
await writeVersion({ table: 'history', query: history(0) });
await writeVersion({ table: 'history', query: history(50), version: 1 });
await expectRows('history', `${history(0)} UNION ALL ${history(50)}`);

// Partition values that need care in folder names and in URIs.
const values = `(VALUES ('a b'), ('a%b'), ('a/b'), ('é=ü:x'), (NULL), ('..'),
  ('it''s'), ('a?b#c&d'), ('*[x]{y}'), ('日本'), ('🛒'), ('a+b'), ('%20'), ('a\\b"c'), (' ')) AS v(brand)`;
const products = select(
  'products',
  { product_id: "'p' || row_number() OVER ()", brand: 'brand', offers: '1', shops: '1', run_id: "'r1'" },
  values,
);
await db.run(`CREATE TABLE products AS ${products}`);
await writeVersion({ table: 'products', query: 'FROM products', partitionBy: ['brand'] });
await expectRows('products', 'FROM products');

// Two partition columns, one of them an instant.
const sites = select(
  'sites',
  {
    site_id: 'i',
    name: "'Shop ' || i",
    host: "'shop.example'",
    valid_from: "TIMESTAMPTZ '2026-11-18 12:00:00.123456+00' + to_hours(i % 3)",
    is_current: 'i % 2 = 0',
    run_id: "'r1'",
  },
  'range(12) AS r(i)',
);
await writeVersion({ table: 'sites', query: sites, partitionBy: ['valid_from', 'is_current'] });
await expectRows('sites', sites);

// Unpartitioned, with doubles.
const checks = select(
  'check_results',
  {
    run_id: "'r1'",
    name: "'check ' || i",
    severity: "'gate'",
    description: "'d'",
    violations: 'i',
    sample: "'[]'",
    seconds: "CASE i WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN 'infinity'::DOUBLE ELSE i / 7 END",
    checked_at: "TIMESTAMPTZ '2026-11-18 12:00:00.999999+00'",
  },
  'range(10) AS r(i)',
);
await writeVersion({ table: 'check_results', query: checks });
await expectRows('check_results', checks);
await publishPointer(lake, {
  pipeline: 'interop',
  runId: 'r1',
  runNumber: 1n,
  cursor: 9223372036854775022n,
  at: new Date(start),
  attributions: [],
});
await db.close();
