import { tableFromIPC, type Vector } from 'apache-arrow';
import { afterAll, describe, expect, it } from 'vitest';
import { toJsonText } from '../../src/cli/json-text.js';
import { createStreamOutput } from '../../src/cli/output/output.js';
import { readStatement } from '../../src/cli/output/result-set.js';
import { writeFormat } from '../../src/cli/output/write-result.js';
import type { Format } from '../../src/cli/shared-options.js';
import { Database } from '../../src/sql/connection.js';
import { MemoryOutput, MemoryStream } from './open-context.js';

const db = await Database.open();
afterAll(() => db.close());

async function format(kind: Format, sql: string, output = new MemoryOutput(), credits: string[] = []) {
  const { connection } = db;
  const result = await readStatement(
    { connection, statement: await connection.prepare(sql), from: `(${sql})` },
    { format: kind, isFile: false },
  );
  await writeFormat({ ...result, credits }, kind, undefined, output);
  return output;
}

const EXACT = `SELECT 9223372036854775807 AS id, 99999999999999.9999::DECIMAL(18,4) AS price,
  TIMESTAMPTZ '2026-11-20 09:00:00.123456Z' AS at, DATE '2026-11-20' AS day, true AS listed, ['a', NULL] AS names,
  0.1::DOUBLE AS share, NULL::VARCHAR AS gone`;

describe('json', () => {
  it('keeps every digit of int64 and decimals, and microseconds', async () => {
    expect((await format('ndjson', EXACT)).text).toBe(
      '{"id":9223372036854775807,"price":99999999999999.9999,"at":"2026-11-20T09:00:00.123456Z","day":"2026-11-20","listed":true,"names":["a",null],"share":0.1,"gone":null}\n',
    );
  });

  it('is one array, even if it is empty or longer than a chunk', async () => {
    expect(JSON.parse((await format('json', 'SELECT 1 AS n WHERE false')).text)).toEqual([]);
    const rows = JSON.parse((await format('json', 'SELECT range AS n FROM range(5000)')).text);
    expect(rows).toHaveLength(5000);
    expect(rows[4999]).toEqual({ n: 4999 });
  });

  it('makes column names unique', async () => {
    expect(JSON.parse((await format('ndjson', 'SELECT 1 AS a, 2 AS a')).text)).toEqual({ a: 1, 'a:1': 2 });
  });

  it('writes numbers that JSON lacks as text, structs as objects and maps as pairs', async () => {
    const sql = "SELECT 'nan'::DOUBLE AS x, {'a': 1::HUGEINT} AS s, MAP {'k': 2} AS m, INTERVAL 1 DAY AS i";
    expect(JSON.parse((await format('ndjson', sql)).text)).toEqual({
      x: 'NaN',
      s: { a: 1 },
      m: [{ key: 'k', value: 2 }],
      i: '1 day',
    });
  });
});

/** Characters that move a cursor or reorder a line, except line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for control characters
const CONTROLS = /(?!\r\n)[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;
/** A title as a shop may write it: ESC, BEL, CR, C1, line separator and bidirectional controls, and a line break. */
const TITLE = "'a' || chr(27) || ']0;x' || chr(7) || chr(13) || chr(155) || chr(8232) || chr(8238) || chr(10) || 'b'";
const SHOWN = 'a\\u001b]0;x\\u0007\\u000d\\u009b\\u2028\\u202e';
const EXACT_TITLE = 'a\u001b]0;x\u0007\r\u009b\u2028\u202e\nb';

describe('control characters in the data', () => {
  it('are escaped in CSV on a terminal, and exact in a file or a pipe', async () => {
    const sql = `SELECT ${TITLE} AS title, [${TITLE}] AS titles`;
    const shown = (await format('csv', sql, new MemoryOutput(80))).text;
    expect(shown.split('\r\n')[1]).toContain(`"${SHOWN}\nb"`);
    expect(shown).not.toMatch(CONTROLS);
    expect((await format('csv', sql)).text).toContain(`"${EXACT_TITLE}"`);
  });

  it.each(['json', 'ndjson'] as const)(
    'are escaped in %s, even those that JSON allows, and the value stays the same',
    async (kind) => {
      const { text } = await format(kind, `SELECT ${TITLE} AS title`);
      expect(text).not.toMatch(CONTROLS);
      expect([JSON.parse(text)].flat()).toEqual([{ title: EXACT_TITLE }]);
    },
  );

  it('are escaped in all other output on a terminal, except our own colors and isolates', async () => {
    const stream = new MemoryStream(true);
    await createStreamOutput(stream).write(`\u001b[31m${EXACT_TITLE}\u001b[39m \u2068שלום\u2069\r\n`);
    expect(stream.text).toBe(`\u001b[31m${SHOWN}\nb\u001b[39m \u2068שלום\u2069\r\n`);
    const pipe = new MemoryStream();
    await createStreamOutput(pipe).write(EXACT_TITLE);
    expect(pipe.text).toBe(EXACT_TITLE);
  });

  it('are escaped in the JSON lines of logs and reports', () => {
    expect(toJsonText({ title: EXACT_TITLE })).not.toMatch(CONTROLS);
    expect(JSON.parse(toJsonText({ title: EXACT_TITLE, [EXACT_TITLE]: [1n] }))).toEqual({
      title: EXACT_TITLE,
      [EXACT_TITLE]: [1],
    });
  });
});

it('a terminal of unknown width counts as 80 columns, and a pipe has no width', () => {
  for (const columns of [0, Number.NaN, undefined, 80]) {
    const stream = Object.assign(new MemoryStream(true), columns === undefined ? {} : { columns });
    expect(createStreamOutput(stream).columns).toBe(80);
  }
  expect(createStreamOutput(Object.assign(new MemoryStream(), { columns: 0 })).columns).toBeUndefined();
});

describe('csv', () => {
  it('quotes as RFC 4180, distinguishes NULL from an empty text and keeps the data unchanged', async () => {
    const sql = `SELECT * FROM (VALUES ('a"b', 'x,y', NULL, ''), ('line' || chr(10) || 'two', '=1+1', 'é', ' ')) t(a, b, c, d)`;
    expect((await format('csv', sql)).text).toBe('a,b,c,d\r\n"a""b","x,y",,""\r\n"line\ntwo",=1+1,é, \r\n');
  });

  it('stops when its reader is gone', async () => {
    const output = await format('csv', 'FROM range(1000000000)', new MemoryOutput(undefined, 2));
    expect(output.chunks).toHaveLength(2);
  });
});

describe('table', () => {
  it('aligns numbers right and texts left by their displayed width', async () => {
    const sql = "SELECT * FROM (VALUES ('茶', 1.5), ('👩‍🚀 x', 10.25), ('e\u0301', NULL)) t(shop, price)";
    expect((await format('table', sql)).text).toBe(
      ['shop  price', '────  ─────', '茶     1.50', '👩‍🚀 x  10.25', 'e\u0301          ', ''].join('\n'),
    );
  });

  it('removes control characters from the data and isolates right-to-left texts', async () => {
    const sql = "SELECT 'a' || chr(27) || '[2Jb' || chr(10) || 'c' || chr(8238) AS x, 'שלום' AS y";
    expect((await format('table', sql)).text).toContain('a[2Jb c  \u2068שלום\u2069');
  });

  it('fits the terminal by shortening long texts but never numbers', async () => {
    const sql = "SELECT 123456789012 AS id, repeat('x', 100) AS title, repeat('茶', 50) AS more";
    const lines = (await format('table', sql, new MemoryOutput(44))).text.split('\n');
    expect(lines[2]).toBe('123456789012  xxxxxxxxxxxxx…  茶茶茶茶茶茶…');
  });

  it('omits the last columns if not all fit, and lists them', async () => {
    const sql = "SELECT 123456789012 AS id, repeat('x', 100) AS title, repeat('茶', 50) AS more, 1 AS last";
    const lines = (await format('table', sql, new MemoryOutput(40))).text.split('\n');
    expect(lines[2]).toBe(`123456789012  ${'x'.repeat(25)}…`);
    expect(lines[3]).toBe("… columns that don't fit: more, last");
    expect((await format('table', sql, new MemoryOutput(5))).text.split('\n')[2]).toBe('123456789012');
  });

  it('omits columns that are empty in all rows first, and lists them', async () => {
    const sql = "SELECT 123456789012 AS id, NULL::VARCHAR AS nothing, repeat('x', 20) AS title, '' AS blank, 1 AS last";
    const lines = (await format('table', sql, new MemoryOutput(40))).text.split('\n');
    expect(lines.slice(2)).toEqual([`123456789012  ${'x'.repeat(20)}     1`, '… empty columns: nothing, blank', '']);
    const wide = (await format('table', sql, new MemoryOutput(80))).text.split('\n');
    expect(wide[0]).toMatch(/^ +id +nothing +title +blank +last$/u);
  });

  it('without a terminal shortens long texts, but no credit and no number', async () => {
    const credit = `CC BY 4.0, ${'x'.repeat(60)}`;
    const sql = `SELECT repeat('茶', 50) AS title, '${credit}' AS credit, repeat('9', 38)::HUGEINT * 1 AS n`;
    const [, , line = ''] = (await format('table', sql, undefined, [credit])).text.split('\n');
    expect(line).toBe(`${'茶'.repeat(23)}…  ${credit}  ${'9'.repeat(38)}`);
  });

  it('ends after a thousand rows and says so', async () => {
    const { text } = await format('table', 'FROM range(3000)');
    expect(text.split('\n')).toHaveLength(2 + 1000 + 2);
    expect(text).toMatch(/… more than 1000 rows; use --format csv/u);
    expect((await format('table', 'FROM range(1000)')).text).not.toContain('more than');
  });
});

describe('arrow', () => {
  it('has exact types and values, and the license texts in its metadata', async () => {
    const table = tableFromIPC(Buffer.concat((await format('arrow', EXACT, undefined, ['CC BY 4.0'])).chunks));
    expect(table.schema.fields.map((field) => String(field.type))).toEqual([
      'Int64',
      'Decimal[18e+4]',
      'Timestamp<MICROSECOND, UTC>',
      'Date32<DAY>',
      'Bool',
      'List<Utf8>',
      'Float64',
      'Utf8',
    ]);
    expect(table.schema.metadata.get('attribution')).toBe('["CC BY 4.0"]');
    const column = (name: string) => table.getChild(name) as Vector;
    expect(column('id').get(0)).toBe(9223372036854775807n);
    expect(column('price').data[0]?.values).toEqual(toDecimal128(999999999999999999n));
    expect(column('at').data[0]?.values[0]).toBe(1_795_165_200_123_456n);
    expect(column('listed').get(0)).toBe(true);
    expect([...column('names').get(0)]).toEqual(['a', null]);
    expect(column('gone').get(0)).toBeNull();
  });

  it('keeps negative and wide decimals', async () => {
    const sql = 'SELECT * FROM (VALUES (-1.5::DECIMAL(38,4)), (NULL), (9999999999999999999999999999999999.9999)) t(x)';
    const table = tableFromIPC(Buffer.concat((await format('arrow', sql)).chunks));
    const values = table.getChild('x')?.data[0]?.values;
    expect(values.slice(0, 4)).toEqual(toDecimal128(-15_000n));
    expect(values.slice(8, 12)).toEqual(toDecimal128(10n ** 38n - 1n));
    expect(table.getChild('x')?.nullCount).toBe(1);
  });

  it('is a stream of batches, which can also be empty', async () => {
    const many = await format('arrow', "SELECT range AS n, 'x' || range AS t FROM range(150000)");
    const table = tableFromIPC(Buffer.concat(many.chunks));
    expect(table.numRows).toBe(150_000);
    expect(table.batches.length).toBeGreaterThan(1);
    expect(table.get(149_999)?.toJSON()).toEqual({ n: 149_999n, t: 'x149999' });
    expect(tableFromIPC(Buffer.concat((await format('arrow', 'SELECT 1 AS n WHERE false')).chunks)).numRows).toBe(0);
  });

  it("refuses a HUGEINT that doesn't fit into Decimal128(38)", async () => {
    await expect(format('arrow', "SELECT '170141183460469231731687303715884105727'::HUGEINT")).rejects.toThrow(
      /doesn't fit into Arrow's Decimal128/u,
    );
  });
});

function toDecimal128(unscaled: bigint): Uint32Array {
  const halves = BigInt64Array.of(BigInt.asIntN(64, unscaled), BigInt.asIntN(64, unscaled >> 64n));
  return new Uint32Array(halves.buffer);
}
