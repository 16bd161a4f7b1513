import { createReadStream, createWriteStream, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { setVariables } from '../../src/analyze/analysis.js';
import { selectDailySpreads } from '../../src/analyze/daily-spread.js';
import { prepareConversion } from '../../src/analyze/exchange-rates.js';
import { loadTree, loadWeights } from '../../src/analyze/weights.js';
import { openLake } from '../../src/lake/lake.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { createMacros, readAnalysis } from '../../src/sql/model.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { itself } from '../../src/sql/sql.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { createTable, derivedSelects } from '../check/lake-world.js';
import { select, write } from '../lake/items.js';

/**
 * Writes what pipelines/spark/spread.py reads, and what it must make of it by DuckDB's own queries:
 * `write-spark.ts <folder> [items.ndjson.gz]`. `hard`: seeded items and changes with values that are hard to count with;
 * `given`: the items of a file, in the API's shape.
 */
const [folder, given] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: write-spark.ts <folder> [items.ndjson.gz]');

/** Days of price_spread_daily; the days before them hold changes, too. */
const DAYS = { first: '2026-11-10', last: '2026-11-19' };
/** Of the analyses: lags, steps and periods that the days of the worlds have. */
const VARIABLES = {
  lags: '1,3,7',
  step: '2',
  pass_weeks: '1',
  period: 'week',
  window_periods: '4',
  relaunches: 'any',
  top: '400',
};
/** Of a euro in dollars, by day. */
const RATES = Array.from({ length: 50 }, (_, day) => {
  const date = new Date(Date.UTC(2026, 9, 1 + day)).toISOString().slice(0, 10);
  return `${date},USD,${(1.1 + Math.sin(day / 5) / 20).toFixed(6)}\n`;
});
/** Weights of categories, some of a period only, one of which is written in short, and a tree above them. */
const WEIGHTS =
  'category,weight,period\nname-0,1.5,\nname-1,2,2026-10-26\nname-1,3,2026-11-9\nname-2,0.25,\nname-3,0,\nother,4,\n';
const TREE = 'child,parent\nname-0,A\nname-1,A\nA,B\nB,C\nname-2,C\nother,D\n';
const IN = {
  prices: `[0.0001, 0.0149, 0.015, 0.25, 0.99, 1, 1.2345, 2.5, 3.33, 4.05, 7.77, 9.9999, 12.25, 99.99, 100.005, 1234, 9999.99,
    12345.6789, 999999999.9999, 10000000000, 99999999999999.9999, 0, -1.5, NULL]::DECIMAL(18, 4)[]`,
  currencies: `['EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'EUR', 'USD', NULL]`,
  kinds: `['NEW', 'CHANGED', 'CHANGED', 'CHANGED', 'REMOVED', 'RELISTED']`,
  titles: `['6 x 0,5 l Water', 'Brašno 1.000 g', 'Kafa 40.000 g', 'Čaj 50 mg', 'Phone 5G', 'МАСЛО 200 Г', 'Milk 1L', 'Milk 1000ml', 'Soap 10 kom', 'Rope 2,5 M',
    'Cable 1.5 m x 3', 'Sirup 12 fl. oz', 'Chips 0.15 kg (2x)', '🛒 3 St', 'Tuna 3x80g', 'Pièce 12 pièces', '750 ML', '', NULL, 'no size', '1.234.567,5 g', 'Tee 7 lb']`,
  attributes: `['{"quantity":1.50,"unit":"kg"}', '{"quantity":"0,75","unit":"L"}', '{"quantity":5}', '{"unit":"g"}', '{"size":"500 g","x":1}', '{"netWeight":"1 kg"}',
    '{"quantity":null,"unit":null}', '{"quantity":"5d","unit":"kg"}', '{}', NULL, '{"quantity":1e3,"unit":"g"}', '{"quantity":{"a":1},"unit":"m"}', '{"packSize":6,"volume":"33 cl"}', '[1]',
    '{"stock":"In stock","oldPrice":"12.50"}', '{"stock":"Nije na zalihi","oldPrice":999999}', '{"stock":true,"oldPrice":"1.000,00"}', '{"stock":["yes","no"]}',
    '{"stock":"0 kom","x":{"stock":"no"}}', '{"stock":{"status":"BackOrder"}}', '{"stock":"Épuisé"}', '{"x":{"stock":"5 Stück"},"oldPrice":20}']`,
  urls: `['https://www.shop.example/p/', 'http://shop.example/p/', 'HTTPS://WWW.Shop.example/p/?id=']`,
};
const pick = (list: string, salt: number) => `(${list})[1 + (hash(i, ${salt}) % len(${list}))::INTEGER]`;
const some = (salt: number, of: number) => `hash(i, ${salt}) % ${of} = 0`;
const at = (salt: number, days: number) =>
  `TIMESTAMPTZ '2026-11-19 23:59:59.999999+00' - to_microseconds((hash(i, ${salt}) % ${days * 86_400_000_000})::BIGINT)`;
const near = `(pow(10, (hash(i // 6, 5) % 5)::INTEGER - 1) * (1 + (hash(i, 6) % 1000) / 700.0))::DECIMAL(18, 4)`;

const ITEMS = {
  item_id: '9007199254740993 + i * 7919',
  title: pick(IN.titles, 1),
  // The second kind is the key of another product.
  brand: `CASE WHEN ${some(2, 3)} THEN 'Brand ' || i % 5 WHEN hash(i, 2) % 3 = 1 THEN 'P ' || i // 6 + 40 END`,
  mpn: `CASE WHEN ${some(3, 3)} THEN 'M' || i % 7 WHEN hash(i, 3) % 3 = 1 THEN 'É-1' END`,
  gtin14: `CASE WHEN ${some(4, 2)} THEN lpad((i // 6)::VARCHAR, 14, '0') END`,
  product_id: `CASE WHEN i % 37 = 0 THEN NULL ELSE 'p' || i // 6 || '-é1' END`,
  price: `CASE WHEN ${some(7, 4)} THEN ${pick(IN.prices, 8)} ELSE ${near} END`,
  previous_price: `CASE WHEN ${some(9, 3)} THEN ${near} * ([1, 10, 100, 0.1, 1.5][1 + (hash(i, 10) % 5)::INTEGER])::DECIMAL(6, 2) END`,
  price_changed_at: `CASE WHEN ${some(11, 3)} THEN ${at(12, 40)} END`,
  currency: `CASE WHEN ${some(13, 40)} THEN 'USD' WHEN ${some(13, 41)} THEN NULL ELSE 'EUR' END`,
  attributes: pick(IN.attributes, 14),
  category_name: `CASE WHEN ${some(15, 2)} THEN 'Name ' || i % 4 END`,
  category_path: `CASE WHEN ${some(15, 3)} THEN 'All > Name ' || i % 4 END`,
  category_slug: `CASE WHEN ${some(15, 2)} THEN 'name-' || i % 4 END`,
  site_id: `9223372036854775800 + (hash(i, 16) % 7)::BIGINT`,
  first_seen_at: `CASE WHEN NOT ${some(17, 9)} THEN ${at(18, 60)} END`,
  last_seen_at: at(19, 20),
  removed_at: `CASE WHEN ${some(20, 8)} THEN ${at(21, 15)} END`,
  gone_at: `CASE WHEN ${some(22, 25)} THEN ${at(23, 10)} END`,
  is_listed: `NOT ${some(20, 8)} AND NOT ${some(22, 25)}`,
  url: `${pick(IN.urls, 24)} || i % 90 || CASE WHEN ${some(25, 4)} THEN '/#top' WHEN ${some(25, 5)} THEN '?a=' || i ELSE '' END`,
  datasets: `CASE WHEN ${some(26, 3)} THEN ['a', 'b'] WHEN ${some(26, 2)} THEN ['b'] END`,
  source_id: `(hash(i, 27) % 2)::BIGINT`,
  read_at: "TIMESTAMPTZ '2026-11-20 00:00:00+00'",
  run_id: "'r1'",
};
/** Products that belong to the one before them, and products that don't belong to the one whose code they lead to. */
const USER_MATCHES = {
  product_id: "'p' || i || '-é1'",
  other_id: "'p' || CASE WHEN i % 10 < 3 THEN i - i % 10 ELSE i - 40 END || '-é1'",
  is_match: 'i % 10 < 3',
  run_id: "'r1'",
};
const HISTORY = {
  change_id: `CASE WHEN ${some(30, 9)} THEN NULL ELSE 9007199254740993 + i END`,
  item_id: '9007199254740993 + (hash(i, 31) % 3000)::BIGINT * 7919',
  kind: pick(IN.kinds, 32),
  observed_at: at(33, 30),
  observed_date: `(${at(33, 30)})::TIMESTAMP::DATE`,
  price: `CASE WHEN ${some(34, 9)} THEN NULL ELSE ${near} END`,
  previous_price: `CASE WHEN ${some(35, 3)} THEN NULL ELSE ${near} + 1 END`,
  currency: pick(IN.currencies, 36),
  changes: `CASE hash(i, 37) % 9 WHEN 0 THEN '{"price":[null,' || ${near} || ']}' WHEN 1 THEN '{"price": [null, "x"]}'
    WHEN 2 THEN '{"currency":["USD","EUR"],"price":[1.5,2]}' WHEN 3 THEN NULL
    WHEN 5 THEN '{"stock":["In stock","Nije na zalihi"]}' WHEN 6 THEN '{"attributes.stock":["sold out","in stock"],"oldPrice":["9.99","15.00"]}'
    WHEN 7 THEN '{"attributes":[{"stock":"available"},{"x":{"stock":"no"}}],"attributes.oldPrice":[null,12]}' WHEN 8 THEN '{"stock":["backorder",null],"oldPrice":["20","x"]}' ELSE '{"price":[null,1e2],"a":{"price":[1]}}' END`,
  origin: pick(`['feed', 'feed', 'diff']`, 38),
  run_id: "'r1'",
};
const SITES = {
  site_id: '9223372036854775800 + i',
  name: "'Shop ' || i",
  host: "'shop.example'",
  attribution: `CASE WHEN i % 2 = 0 THEN 'Licence ' || i % 4 END`,
  valid_from: "TIMESTAMPTZ '2026-01-01 00:00:00+00'",
  is_current: 'true',
  run_id: "'r1'",
};

const OFFER_RULES = select(
  'offer_rules',
  { rule: 'rule', site_id: '9223372036854775800 + site', meaning: 'meaning', text: 'text', run_id: "'r1'" },
  `(VALUES ('attribute', NULL, 'availability', 'stock'), ('attribute', 2, 'availability', 'x.stock'), ('attribute', NULL, 'regular price', 'oldPrice'),
    ('value', NULL, 'on order', 'Épuisé'), ('value', 3, 'in stock', 'Épuisé'), ('time zone', NULL, '', 'Europe/Zagreb'),
    ('time zone', 4, '', 'America/New_York'), ('region', 1, '', 'North'), ('region', 2, '', 'South')) AS r(rule, site, meaning, text)`,
);
const SOURCES = {
  site_id: '9223372036854775800 + i // 2',
  source_id: 'i % 2',
  last_seen_at: `CASE WHEN i % 5 > 0 THEN ${at(40, 20)} END`,
  read_at: "TIMESTAMPTZ '2026-11-20 00:00:00+00'",
  read_by: "['export', 'feed'][1 + i % 2]",
  clock_at: "TIMESTAMPTZ '2026-11-20 00:00:00.000001+00'",
  stale_after: `CASE WHEN i % 3 > 0 THEN 86400 * i + 1 END`,
  is_stale: 'i % 4 = 0',
  run_id: "'r1'",
};
const RUNS = { run_number: '1', run_id: "'r1'", finished_at: "TIMESTAMPTZ '2026-11-20 00:00:00+00'" };

await writeWorld('hard', {
  items: select('items', ITEMS, 'range(3000) AS r(i)'),
  history: select('history', HISTORY, 'range(6000) AS r(i)'),
  sites: select('sites', SITES, 'range(7) AS r(i)'),
  sources: select('sources', SOURCES, 'range(14) AS r(i)'),
  offer_rules: OFFER_RULES,
  runs: select('runs', RUNS),
  user_matches: select('user_matches', USER_MATCHES, '(FROM range(40, 500) AS r(i) WHERE i % 10 IN (1, 2, 5))'),
});
if (given !== undefined) {
  await mkdir(folder, { recursive: true });
  const lines = join(folder, 'given.ndjson');
  await pipeline(createReadStream(given), createGunzip(), createWriteStream(lines));
  const source = `read_csv(${quoteLiteral(lines)}, columns = {'line': 'VARCHAR'}, delim = chr(1), quote = '', escape = '', header = false, max_line_size = 4194304)`;
  const text = (path: string) => `json_extract_string(line, '$.${path}')`;
  await writeWorld('given', {
    items: select('items', givenItems(text), source),
    history: select('history', {}, 'range(0) AS r(i)'),
    runs: select('runs', RUNS),
    sites: select(
      'sites',
      { ...SITES, site_id: 'i', name: 'name', attribution: 'attribution' },
      `(SELECT DISTINCT ${text('site.id')}::BIGINT AS i, ${text('site.name')} AS name, ${text('site.attribution')} AS attribution FROM ${source})`,
    ),
  });
}

function givenItems(text: (path: string) => string) {
  return {
    item_id: `exact_bigint(${text('id')})`,
    title: text('title'),
    brand: text('brand'),
    mpn: text('mpn'),
    gtin: text('gtin'),
    gtin14: `valid_gtin14(${text('gtin')})`,
    product_id: `product_key(${text('gtin')}, ${text('brand')}, ${text('mpn')})`,
    price: `exact_money(${text('price')})`,
    previous_price: `exact_money(${text('previousPrice')})`,
    price_changed_at: `exact_instant(${text('priceChangedAt')})`,
    currency: text('currency'),
    attributes: `json_extract(line, '$.attributes')::VARCHAR`,
    site_id: `exact_bigint(${text('site.id')})`,
    first_seen_at: `exact_instant(${text('firstSeenAt')})`,
    last_seen_at: `exact_instant(${text('lastSeenAt')})`,
    removed_at: `exact_instant(${text('removedAt')})`,
    is_listed: `${text('removedAt')} IS NULL`,
    read_at: "TIMESTAMPTZ '2026-11-20 00:00:00+00'",
    run_id: "'r1'",
  };
}

/** A lake of these tables, and in `expected` a file of each derived table. */
async function writeWorld(world: string, tables: Partial<Record<TableName, string>>): Promise<void> {
  const target = join(folder as string, world);
  await mkdir(join(target, 'expected'), { recursive: true });
  const lake = await openLake(join(target, 'lake'), { create: true });
  const db = await Database.open({ threads: 2 });
  await createMacros(db);
  for (const table of ['sources', 'offer_rules', 'user_matches'] as const) await createTable(db, table);
  for (const [name, query] of Object.entries(tables)) {
    const table = name as TableName;
    await db.run(`CREATE OR REPLACE TABLE ${table} AS ${query}`);
    await write(db, lake, { table, select: `FROM ${table}`, applied: { cursor: 1n } });
  }
  for (const { table, select } of derivedSelects('spark')) {
    await db.run(`CREATE TABLE ${table} AS ${select}`);
    await expectRows(db, target, table);
  }
  await db.run(`CREATE TABLE price_spread_daily AS ${select('price_spread_daily', {}, 'range(0) AS r(i)')}`);
  const sources = { items: itself('items'), history: itself('history'), sites: itself('sites') };
  for await (const { text } of selectDailySpreads(new RelationGraph(db), sources, { ...DAYS, runId: 'spark' }))
    await db.run(`INSERT INTO price_spread_daily BY NAME ${text}`);
  await expectRows(db, target, 'price_spread_daily');
  await db.run(`CREATE VIEW price_spells AS ${readAnalysis('price_spells')}`);
  const own = await db.row('SELECT site_id FROM sites ORDER BY site_id LIMIT 1 OFFSET 1');
  const variables = { ...VARIABLES, own_site: String(own?.site_id) };
  await writeFile(join(target, 'own_site'), variables.own_site);
  for (const [name, value] of Object.entries(variables)) await db.run(`SET VARIABLE ${name} = ${quoteLiteral(value)}`);
  const texts = { rates: `date,currency,rate\n${RATES.join('')}`, weights: WEIGHTS, tree: TREE };
  const file = (name: keyof typeof texts) => join(target, `${name}.csv`);
  for (const [name, text] of Object.entries(texts)) await writeFile(join(target, `${name}.csv`), text);
  await prepareConversion(db, { file: file('rates'), base: 'EUR' });
  await setVariables(db, { by: await loadWeights(db, file('weights')) });
  await loadTree(db, file('tree'));
  for (const name of analysesOfSpark()) {
    await db.run(
      `COPY (${readAnalysis(name)}) TO ${quoteLiteral(join(target, 'expected', `${name}.parquet`))} (FORMAT parquet)`,
    );
  }
  await db.close();
}

/** Names of the generated queries that make no table. */
function analysesOfSpark(): string[] {
  const files = readdirSync('pipelines/spark/sql').filter((file) => file.endsWith('.sql'));
  const tables: readonly string[] = [...TABLE_NAMES, 'offer_prices'];
  return files.map((file) => file.replace('.sql', '')).filter((name) => !tables.includes(name));
}

async function expectRows(db: Database, target: string, table: TableName): Promise<void> {
  const columns = loadTableSchema(table).columns.map(({ name }) => `"${name}"`);
  const path = quoteLiteral(join(target, 'expected', `${table}.parquet`));
  await db.run(`COPY (SELECT ${columns.join(', ')} FROM ${table}) TO ${path} (FORMAT parquet)`);
}
