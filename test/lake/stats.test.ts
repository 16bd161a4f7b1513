import path from 'node:path';
import { expect, test } from 'vitest';
import { readStatistics } from '../../src/lake/footer-statistics.js';
import { readTable } from '../../src/lake/read.js';
import { GROUP_ROWS } from '../../src/lake/slice.js';
import { writeStats } from '../../src/lake/stats.js';
import type { Database } from '../../src/sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../../src/sql/quote.js';
import { tablePath } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { makeFolder, makeLake, openDatabase, select, write } from './fixture.js';

/** Bounds of one column with the given minimum and maximum. */
function bounds(table: 'items' | 'check_results' | 'history', column: string, min: string, max: string) {
  const statistics = new Map([
    [
      column,
      new Map([
        ['min', min],
        ['max', max],
        ['null_count', '0'],
      ]),
    ],
  ]);
  return writeStats(loadTableSchema(table), [], 1n, statistics);
}

/** Statistics of columns of items, as DuckDB gives them. */
function statsOf(columns: Record<string, Record<string, string>>, partitionBy: string[] = []) {
  const statistics = new Map(Object.entries(columns).map(([name, found]) => [name, new Map(Object.entries(found))]));
  return writeStats(loadTableSchema('items'), partitionBy, 3n, statistics);
}

test('a partition column has no statistics, not even a null count', () => {
  const known = { min: '5', max: '5', null_count: '0' };
  expect(statsOf({ site_id: known, item_id: known }, ['site_id'])).toBe(
    '{"numRecords":3,"minValues":{"item_id":5},"maxValues":{"item_id":5},"nullCount":{"item_id":0}}',
  );
});

test.each([
  ['item_id', ['', '-', '1.0', '1e3', ' 1', '1 ', '+1', 'x1', '1x'], ['0', '-7', '12']],
  ['price', ['', '1', '1.', '.5', '-.5', '1.5x', 'x1.5', '1.5 '], ['1.5000', '-12.3400', '0.0001']],
])("a bound of %s is written only if its text is a number of the log's format", (column, wrong, right) => {
  for (const text of wrong) expect(bounds('items', column, text, text)).toContain('"minValues":{},"maxValues":{}');
  for (const text of right) expect(bounds('items', column, text, text)).toContain(`"minValues":{"${column}":${text}}`);
});

test('booleans have bounds; lists have none, but their nulls are counted', () => {
  const known = { min: 'false', max: 'true', null_count: '2' };
  expect(statsOf({ is_listed: known, datasets: known })).toBe(
    '{"numRecords":3,"minValues":{"is_listed":false},"maxValues":{"is_listed":true},"nullCount":{"datasets":2,"is_listed":2}}',
  );
});

test('ids above 2^53 and money keep every digit', () => {
  expect(bounds('items', 'item_id', '-9223372036854775808', '9223372036854775807')).toBe(
    '{"numRecords":1,"minValues":{"item_id":-9223372036854775808},"maxValues":{"item_id":9223372036854775807},"nullCount":{"item_id":0}}',
  );
  expect(bounds('items', 'price', '-0.0001', '99999999999999.9999')).toContain('{"price":99999999999999.9999}');
  expect(bounds('check_results', 'seconds', '0.25', 'nan')).toContain('"minValues":{"seconds":0.25},"maxValues":{}');
  expect(bounds('history', 'observed_date', '2026-01-31', '12026-01-01')).toContain(
    '"minValues":{"observed_date":"2026-01-31"},"maxValues":{}',
  );
});

test('times are rounded outward to milliseconds', () => {
  const stats = bounds('items', 'read_at', '1969-12-31 23:59:59.999999+00', '2026-12-31 23:59:59.999001+00');
  expect(stats).toContain('"minValues":{"read_at":"1969-12-31T23:59:59.999Z"}');
  expect(stats).toContain('"maxValues":{"read_at":"2027-01-01T00:00:00.000Z"}');
  expect(bounds('items', 'read_at', '2026-01-01 00:00:00+00', '2026-01-01 00:00:00.12+00')).toContain(
    '"maxValues":{"read_at":"2026-01-01T00:00:00.120Z"}',
  );
});

test.each([
  ['a'.repeat(40), 'a'.repeat(32), `${'a'.repeat(31)}b`],
  ['🛒'.repeat(40), '🛒'.repeat(32), `${'🛒'.repeat(31)}🛓`],
  [`${'a'.repeat(31)}\u{d7ff}xyz`, `${'a'.repeat(31)}\u{d7ff}`, `${'a'.repeat(31)}\u{e000}`],
  [`${'a'.repeat(31)}\u{10ffff}xyz`, `${'a'.repeat(31)}\u{10ffff}`, `${'a'.repeat(30)}b`],
  ['a'.repeat(32), 'a'.repeat(32), 'a'.repeat(32)],
  ['🛒'.repeat(32), '🛒'.repeat(32), '🛒'.repeat(32)],
  ['a'.repeat(33), 'a'.repeat(32), `${'a'.repeat(31)}b`],
  ['"\n', '"\n', '"\n'],
  [`${'a'.repeat(30)}\u{10ffff}\u{10ffff}xyz`, `${'a'.repeat(30)}\u{10ffff}\u{10ffff}`, `${'a'.repeat(29)}b`],
  [`b${'\u{10ffff}'.repeat(40)}`, `b${'\u{10ffff}'.repeat(31)}`, 'c'],
])('bounds of a long text are cut after 32 characters, with the maximum raised (%#)', (text, min, max) => {
  const { minValues, maxValues } = JSON.parse(bounds('items', 'title', text, text));
  expect([minValues.title, maxValues.title]).toEqual([min, max]);
  expect(Buffer.compare(Buffer.from(maxValues.title), Buffer.from(text))).toBeGreaterThanOrEqual(0);
});

test("a maximum that can't be raised beyond the last Unicode character is omitted", () => {
  expect(JSON.parse(bounds('items', 'title', 'a', '\u{10ffff}'.repeat(40))).maxValues).toEqual({});
});

test('bounds from real files cover every row, and lists and partition columns have none', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const source = select(
    'items',
    {
      item_id: '9007199254740993 + i',
      title: 'repeat(chr(CAST(97 + i % 20 AS INTEGER)), CAST(20 + i AS INTEGER))',
      brand: "repeat('é', 20000)",
      price: '(i - 50) / 3.0',
      datasets: "['a']",
      site_id: 'i % 2',
      read_at: "TIMESTAMPTZ '2026-01-01 00:00:00.0005+00' + to_microseconds(i * 333)",
      is_listed: 'true',
      run_id: "'r'",
    },
    'range(100) AS r(i)',
  );
  await write(db, lake, { select: source });
  await db.run(`CREATE TABLE source AS ${source}`);
  for (const file of (await readTable(lake, 'items')).files) {
    const outside = await db.row(
      `SELECT count(*) AS rows FROM source, (SELECT CAST(? AS JSON) AS stats)
       WHERE site_id = CAST(? AS BIGINT) AND NOT (
         item_id BETWEEN (stats ->> '$.minValues.item_id')::BIGINT AND (stats ->> '$.maxValues.item_id')::BIGINT
         AND title BETWEEN (stats ->> '$.minValues.title') AND (stats ->> '$.maxValues.title')
         AND price BETWEEN (stats ->> '$.minValues.price')::DECIMAL(18,4) AND (stats ->> '$.maxValues.price')::DECIMAL(18,4)
         AND read_at BETWEEN (stats ->> '$.minValues.read_at')::TIMESTAMPTZ AND (stats ->> '$.maxValues.read_at')::TIMESTAMPTZ)`,
      [file.stats, String(file.partitionValues.site_id)],
    );
    expect(outside?.rows).toBe(0n);
    const { numRecords, minValues, nullCount } = JSON.parse(file.stats);
    expect(numRecords).toBe(50);
    expect(nullCount.mpn).toBe(50);
    expect(Object.keys(minValues)).not.toEqual(expect.arrayContaining(['site_id']));
    expect(minValues).not.toHaveProperty('datasets');
  }
});

/** Columns that have a value and no bounds: delta-rs takes their files for files of nulls. */
async function listUnbound(db: Database, path: string, stats: string): Promise<string[]> {
  const { minValues, maxValues } = JSON.parse(stats);
  const columns = loadTableSchema('items').columns.filter(
    ({ name, type }) => type !== 'VARCHAR[]' && name !== 'site_id',
  );
  const counts = columns.map(({ name }, index) => `count(${quoteIdentifier(name)}) AS c${index}`);
  const row = await db.row(`SELECT ${counts.join(', ')} FROM read_parquet(${quoteLiteral(path)})`);
  return columns
    .filter(({ name }, index) => row?.[`c${index}`] !== 0n && !(name in minValues && name in maxValues))
    .map(({ name }) => name);
}

test('each column with a value has bounds, including booleans, long texts, and values beside all-null row groups', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const late = (value: string) => `CASE WHEN i >= ${GROUP_ROWS} THEN ${value} END`;
  const values = {
    item_id: 'i',
    site_id: '1',
    title: late("repeat('ü', 3000) || i"),
    brand: "CASE WHEN i = 7 THEN repeat('🛒', 300) ELSE 'b' END",
    mpn: late("repeat('x', 300)"),
    price: late('i / 4.0'),
    currency: late("'CZK'"),
    first_seen_at: late("TIMESTAMPTZ '2026-01-01 00:00:00+00'"),
    is_listed: late('i % 2 = 0'),
    read_at: "TIMESTAMPTZ '2026-01-01 00:00:00+00'",
    run_id: "'r'",
  };
  await write(db, lake, { select: select('items', values, `range(${GROUP_ROWS + 100}) AS r(i)`) });
  const [file] = (await readTable(lake, 'items')).files;
  const { path, stats } = file ?? expect.unreachable('no file');
  expect(await listUnbound(db, tablePath(lake, 'items', path), stats)).toEqual([]);
  const { minValues, maxValues, nullCount } = JSON.parse(stats);
  expect([minValues.is_listed, maxValues.is_listed, nullCount.is_listed]).toEqual([false, true, GROUP_ROWS]);
  expect([minValues.title, maxValues.title]).toEqual(['ü'.repeat(32), `${'ü'.repeat(31)}ý`]);
  expect([minValues.brand, maxValues.brand]).toEqual(['b', `${'🛒'.repeat(31)}🛓`]);
  expect([minValues.mpn, maxValues.mpn]).toEqual(['x'.repeat(32), `${'x'.repeat(31)}y`]);
  expect([minValues.price, maxValues.price]).toEqual([GROUP_ROWS / 4, (GROUP_ROWS + 99) / 4]);
});

test('bounds over several row groups cover all rows, in the order of each type', async () => {
  const [db, folder] = [await openDatabase(), await makeFolder()];
  const file = path.join(folder, 'groups.parquet');
  // A row group has one value, so that the bounds of groups come in any order.
  const values: Record<string, string[]> = {
    item_id: ['9', '-9', '10', '9007199254740993', '9007199254740992', '-10'],
    price: ['9.5', '-9.5', '10', '99999999999999.9999', '0.0001', 'NULL'],
    title: ["'é'", "'z'", "'a'", "'\u{ffff}'", "'\u{1f6d2}'", "''"],
    is_listed: ['true', 'false', 'NULL', 'true', 'true', 'true'],
    read_at: [
      "'2026-01-01 10:00:00'",
      "'2026-01-01 10:00:00.5'",
      "'2026-01-01 10:00:00.45'",
      "'infinity'",
      'NULL',
      "'1969-01-01'",
    ],
    gone_at: ["'2026-01-01'", "'12026-01-01'", "'0044-03-15 (BC)'", "'-infinity'", "'0001-01-01'", "'9999-01-01'"],
  };
  const { columns } = loadTableSchema('items');
  const typeOf = (name: string) => columns.find((column) => column.name === name)?.type;
  const list = Object.entries(values).map(
    ([name, all]) =>
      `CAST(([${all.map((value) => `CAST(${value} AS VARCHAR)`).join()}])[1 + i // 2048] AS ${typeOf(name)}) AS ${name}`,
  );
  await db.run(
    `COPY (SELECT ${list.join()} FROM range(${6 * 2048}) AS r(i) ORDER BY i) TO ${quoteLiteral(file)} (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
  );
  const groups = await db.row('SELECT count(DISTINCT row_group_id) AS n FROM parquet_metadata(?)', [file]);
  expect(groups?.n).toBe(6n);
  const found = (await readStatistics(db, loadTableSchema('items'), [file])).get(file);
  for (const name of Object.keys(values)) {
    const all = await db.row(
      `SELECT min(${name})::VARCHAR AS min, max(${name})::VARCHAR AS max, count_if(${name} IS NULL)::VARCHAR AS null_count FROM read_parquet(?)`,
      [file],
    );
    expect([name, Object.fromEntries(found?.get(name) ?? [])]).toEqual([name, all]);
  }
});
