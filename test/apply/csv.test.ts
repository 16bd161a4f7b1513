import { describe, expect, test } from 'vitest';
import { openTyping } from '../typing/typing.js';

const typing = await openTyping();

const FLAT = ['id', 'title', 'brand', 'gtin', 'price', 'attributes', 'datasets', 'siteId', 'siteName', 'removedAt'];
const cell = (text: string | null) => (text === null ? '' : `"${text.replaceAll('"', '""')}"`);
type Cells = Partial<Record<string, string | null>>;

/** A record of the columns of FLAT. */
function record(cells: Cells): string {
  const all: Cells = {
    id: '1',
    title: 'A',
    attributes: '{}',
    datasets: '["one"]',
    siteId: '7',
    siteName: 'S',
    ...cells,
  };
  return FLAT.map((name) => cell(all[name] ?? null)).join(',');
}

const write = (lines: string[], newline = '\n') => lines.map((line) => line + newline).join('');
/** Typed in bulk; and row by row, because of a record with too few cells. */
const WAYS: [string, string[]][] = [
  ['in bulk', []],
  ['row by row', ['9,too,few']],
];

describe('items in CSV', () => {
  test.each(WAYS)(
    'keep empty texts distinct from nulls, and preserve newlines, quotes and commas, when typed %s',
    async (_, bad) => {
      const texts = ['', 'a\nb', 'a\r\nb', 'say "x", please', ' space ', '\\', 'ä😀', '\u2028'];
      const lines = texts.map((title, n) => record({ id: String(n), title, brand: n % 2 === 0 ? null : title }));
      const rows = await typing.csv(write([FLAT.join(','), ...lines, ...bad]), lines.length + bad.length);
      expect(await rows.select('SELECT title, brand FROM typed ORDER BY item_id')).toEqual(
        texts.map((text, n) => [text, n % 2 === 0 ? null : text]),
      );
      // Only rows that are typed one by one have line numbers.
      const [[withLine] = []] = await rows.select('SELECT count(line_number) FROM typed');
      expect(withLine).toBe(bad.length === 0 ? '0' : String(lines.length));
    },
  );

  test.each(WAYS)(
    'have exact ids and prices, or are rejected with their line and raw text, when typed %s',
    async (_, bad) => {
      const lines = [
        record({ id: '9007199254740993', price: '99999999999999.9999' }),
        record({ id: '2', title: 'two\nlines', price: '0.1' }),
        record({ id: '3', price: '1.00001' }),
        record({ id: '4.0' }),
      ];
      const rows = await typing.csv(write([FLAT.join(','), ...lines, ...bad]), lines.length + bad.length);
      expect(await rows.select('SELECT item_id, price FROM typed ORDER BY item_id')).toEqual([
        ['2', '0.1000'],
        ['9007199254740993', '99999999999999.9999'],
      ]);
      // The header is line 1, and the second record takes two lines.
      expect(await rows.rejects()).toEqual([
        { line: '5', reason: 'price "1.00001" does not fit DECIMAL(18,4)', raw: lines[2] },
        { line: '6', reason: 'id "4.0" is not an int64', raw: lines[3] },
        ...bad.map((raw) => ({ line: '7', reason: '3 cells, but the header has 10', raw })),
      ]);
    },
  );

  test.each(['\n', '\r\n'])('may end their lines with %j, and begin with a byte order mark', async (newline) => {
    const rows = await typing.csv(
      `\ufeff${write([FLAT.join(','), record({ price: '5' }), record({ id: '2' })], newline)}`,
      2,
    );
    expect(await rows.select('SELECT item_id, price, title FROM typed ORDER BY 1')).toEqual([
      ['1', '5.0000', 'A'],
      ['2', null, 'A'],
    ]);
  });

  test('may mix both line endings in one file', async () => {
    const text = `${FLAT.join(',')}\r\n${record({})}\n${record({ id: '2' })}\r\n`;
    const rows = await typing.csv(text, 2);
    expect(await rows.select('SELECT item_id FROM typed ORDER BY 1')).toEqual([['1'], ['2']]);
    expect(await rows.rejects()).toEqual([]);
  });

  test('that are not UTF-8 or not CSV are rejected without affecting other rows', async () => {
    const lines = [record({}), `2,"x"y${','.repeat(8)}`, record({ id: '3', title: '\u00e9' })];
    const bytes = Buffer.from(write([FLAT.join(','), ...lines]));
    const damaged = Buffer.concat([
      bytes.subarray(0, bytes.indexOf('é')),
      Buffer.from([0xff]),
      bytes.subarray(bytes.indexOf('é') + 2),
    ]);
    const rows = await typing.csv(damaged, 3);
    expect(await rows.select('SELECT item_id FROM typed')).toEqual([['1']]);
    expect((await rows.rejects()).map(({ line, reason }) => [line, reason])).toEqual([
      ['3', 'not valid CSV: it has a misplaced quote'],
      ['4', 'not valid UTF-8'],
    ]);
  });

  test('may contain objects as JSON text, with keys in any case and ids of any size', async () => {
    const header = 'id,title,category,datasets,site,source';
    const category = '{"name":"Drills","path":"Tools > Drills","slug":"drills","source":"AI"}';
    const site =
      '{"ID":9007199254740993,"name":"Say ""x""","host":null,"energy/label~1":{"a":[1,2.50,0.12345678901234567]}}'.replaceAll(
        '""',
        '\\"',
      );
    const line = (id: number, cells: (string | null)[]) => [String(id), 'A', ...cells].map(cell).join(',');
    const bare = '{"ID":5,"name":"S"}';
    const rows = await typing.csv(
      write([header, line(1, [null, '[]', bare, null]), line(2, [category, '["a","b"]', site, '{"modelId":77}'])]),
      2,
    );
    expect(
      await rows.select(`SELECT category_name, category_slug, array_to_string(datasets, '+'), site_id, site_name, site_host,
        source_id, source_name, extra FROM typed ORDER BY item_id`),
    ).toEqual([
      [null, null, '', '5', 'S', null, null, null, null],
      [
        ...['Drills', 'drills', 'a+b', '9007199254740993', 'Say "x"', null, '77', null],
        '{"site.energy/label~1":{"a":[1,2.5,0.12345678901234567]}}',
      ],
    ]);
  });

  test("whose object isn't a JSON object are rejected", async () => {
    const lines = ['1,"{""id"":5}"', '2,"{""id"":"', '3,Shop', '4,"{""id"":5,""id"":6}"'];
    const rows = await typing.csv(write(['id,site', ...lines]), 4);
    expect(await rows.select('SELECT item_id, site_id FROM typed')).toEqual([['1', '5']]);
    expect((await rows.rejects()).map(({ line, reason }) => [line, reason])).toEqual([
      ['3', 'site is not a JSON object'],
      ['4', 'site is not a JSON object'],
      ['5', 'site is not a JSON object'],
    ]);
  });

  test("may contain only the category's name, even if the first rows have no category", async () => {
    const lines = Array.from({ length: 300 }, (_, n) => `${n},7,${n < 299 ? '' : 'Drills'}`);
    const rows = await typing.csv(write(['id,site_id,category', ...lines]), 300);
    expect(await rows.select('SELECT item_id, category_name FROM typed WHERE category_name IS NOT NULL')).toEqual([
      ['299', 'Drills'],
    ]);
  });

  test('keep unknown columns in extra: objects and lists as JSON, others as text, unnamed columns by position', async () => {
    const rows = await typing.csv(write(['id,siteId,Energy Label,"a""b",ID,', '1,7,A,"{""x"": 1}",5,[z']), 1);
    expect(await rows.select('SELECT item_id, extra FROM typed')).toEqual([
      ['1', '{"Energy Label":"A","a\\"b":{"x": 1},"ID":"5","column_6":"[z"}'],
    ]);
  });

  test('may be empty if the file has only a header', async () => {
    expect(await (await typing.csv(`${FLAT.join(',')}\n`, 0)).select('SELECT count(*) FROM typed')).toEqual([['0']]);
  });

  test('may have their columns renamed by a mapping, including columns with objects', async () => {
    const rows = await typing.csv(write(['sku,shop,amount', '5,"{""id"":7,""name"":""S""}",1.5']), 1, {
      sku: 'id',
      shop: 'site',
      amount: 'price',
    });
    expect(await rows.select('SELECT item_id, site_id, site_name, price FROM typed')).toEqual([
      ['5', '7', 'S', '1.5000'],
    ]);
  });
});
