import { expect, test } from 'vitest';
import { readTable } from '../../src/lake/read.js';
import { writeStats } from '../../src/lake/stats.js';
import { loadTableSchema } from '../../src/schemas.js';
import { makeLake, openDatabase, select, write } from './fixture.js';

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

test('ids above 2^53 and money keep every digit', () => {
  expect(bounds('items', 'item_id', '-9223372036854775808', '9223372036854775807')).toBe(
    '{"numRecords":1,"minValues":{"item_id":-9223372036854775808},"maxValues":{"item_id":9223372036854775807},"nullCount":{"item_id":0}}',
  );
  expect(bounds('items', 'price', '-0.0001', '99999999999999.9999')).toContain('{"price":99999999999999.9999}');
});

test('times are rounded outwards to milliseconds', () => {
  const stats = bounds('items', 'read_at', '1969-12-31 23:59:59.999999+00', '2026-12-31 23:59:59.999001+00');
  expect(stats).toContain('"minValues":{"read_at":"1969-12-31T23:59:59.999Z"}');
  expect(stats).toContain('"maxValues":{"read_at":"2027-01-01T00:00:00.000Z"}');
  expect(bounds('items', 'read_at', '2026-01-01 00:00:00+00', '2026-01-01 00:00:00.12+00')).toContain(
    '"maxValues":{"read_at":"2026-01-01T00:00:00.120Z"}',
  );
});

test('what has no exact place in JSON is left out', () => {
  expect(bounds('items', 'read_at', '0044-03-15 (BC) 00:00:00+00', 'infinity')).toContain(
    '"minValues":{},"maxValues":{}',
  );
  expect(bounds('check_results', 'seconds', '-inf', 'inf')).toContain('"minValues":{},"maxValues":{}');
  expect(bounds('history', 'observed_date', '2026-01-01', '12026-01-01')).toContain('"maxValues":{}');
});

test.each([
  ['a'.repeat(40), 'a'.repeat(32), `${'a'.repeat(31)}b`],
  ['🛒'.repeat(40), '🛒'.repeat(32), `${'🛒'.repeat(31)}🛓`],
  [`${'a'.repeat(31)}\u{d7ff}xyz`, `${'a'.repeat(31)}\u{d7ff}`, `${'a'.repeat(31)}\u{e000}`],
  [`${'a'.repeat(31)}\u{10ffff}xyz`, `${'a'.repeat(31)}\u{10ffff}`, `${'a'.repeat(30)}b`],
  ['a'.repeat(32), 'a'.repeat(32), 'a'.repeat(32)],
])('a long text is cut after 32 characters, the maximum raised (%#)', (text, min, max) => {
  const { minValues, maxValues } = JSON.parse(bounds('items', 'title', text, text));
  expect([minValues.title, maxValues.title]).toEqual([min, max]);
  expect(Buffer.compare(Buffer.from(maxValues.title), Buffer.from(text))).toBeGreaterThanOrEqual(0);
});

test('no maximum is above the last character of Unicode', () => {
  expect(JSON.parse(bounds('items', 'title', 'a', '\u{10ffff}'.repeat(40))).maxValues).toEqual({});
});

test('bounds written from real files hold every row; lists and partition columns have none', async () => {
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
