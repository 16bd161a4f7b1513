import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';
import { runHere } from './pricelake.js';
import { openWatchWorld, type Past, recordListings } from './watch-world.js';

const SHOPS = ['Alpha', 'Beta', 'Gamma', 'Delta'];
const CREDIT = 'Open Prices, CC BY 4.0';
const KETTLE = '4006381333931';
const LAMP = '4012345678901';
const TOASTER = '4012345678918';
const MUG = '4012345678925';
const VASE = '4012345678932';
const BOOK = '4012345678949';
const PEN = '4012345678956';
const INK = '4012345678963';
/** Days of November and prices from then on, of each shop; null: not listed. */
const PAST: Record<string, Past[]> = {
  // Beta went below 20 first and came back; Gamma followed before it did, then Alpha, who still are.
  [KETTLE]: ['1:25 9:19.5', '1:26 5:18 8:24', '1:27 7:19', '1:30'].map(parsePast),
  [LAMP]: ['1:50', '1:50 4:45', '2:60 6:null'].map(parsePast),
  // Gamma lost two digits on the tenth.
  [TOASTER]: ['1:10', '1:11', '1:10 10:0.1', '1:9.5'].map(parsePast),
  [MUG]: ['1:0.01'].map(parsePast),
  // A single offer is cheap.
  [VASE]: ['1:10', '1:17', '1:18', '1:19'].map(parsePast),
  [BOOK]: ['1:10', '1:12'].map(parsePast),
  [PEN]: ['1:10'].map(parsePast),
  [INK]: ['1:10'].map(parsePast),
};

function parsePast(text: string): Past {
  return text.split(' ').map((one) => one.split(':').map((word) => JSON.parse(word)) as [number, number | null]);
}

const listings = Object.entries(PAST).flatMap(([gtin, shops]) =>
  shops.map((past, k) => ({ gtin, siteId: k + 1, shop: SHOPS[k] ?? '', attribution: k === 1 ? CREDIT : null, past })),
);
const rest = { currency: 'EUR', url: null, isBegun: true };
const world = await openWatchWorld(
  recordListings(
    listings.map((listing, k) => ({ ...listing, ...rest, itemId: 5000 + k })),
    12,
  ),
  12,
);
const { folder, lake, list, watch } = world;
afterAll(() => world.close());

const parseRows = (text: string) => (JSON.parse(text) as { rows: Record<string, unknown>[] }).rows;

describe('watch', () => {
  test('reports shops that undercut, and shops below the allowed price, in order, and exits with 7', async () => {
    const file = await list('mine.csv', [
      'product,price,currency,lowest,highest',
      `00${KETTLE},24.00,eur,20,29`,
      `"${LAMP.slice(0, 6)} ${LAMP.slice(6)}",45,,,`,
    ]);
    const { code, stdout, stderr } = await watch(file, '--json');
    expect(code).toBe(7);
    expect(stderr).toContain('shops sell 1 product below your lowest allowed price');
    const followers = ['Gamma', 'Alpha'];
    const since = expect.stringContaining('2026-11-05');
    const kettle = {
      ...{ line: 2, product_id: KETTLE, currency: 'EUR', is_matched: true, shops: 4, position: 3, changes: null },
      ...{ cheapest: 19, cheapest_shop: 'Gamma', median: 21.75, gap: 5, above_shops: 1 },
      ...{ undercut_shops: 2, undercut_by: followers, undercut_since: since },
      ...{ below_shops: 2, below_now: followers, below_first: 'Beta', below_followed: followers, below_since: since },
      below_since_known: true,
    };
    const lamp = {
      ...{ line: 3, product_id: LAMP, currency: 'EUR', shops: 2, position: 1, cheapest: 45, cheapest_shop: 'Beta' },
      ...{ gap: 0, undercut_shops: 0, below_shops: 0, below_first: null, undercut_since: null },
    };
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'below_allowed', facts: { products: 1, attribution: [CREDIT], rows: [kettle, lamp] } },
    });
  });

  test('reports changes since the last run, and exits with 0 if no shop is below', async () => {
    const file = await list('later.csv', ['product,price,lowest', `${KETTLE},24,20`]);
    expect((await watch(file, '--json')).code).toBe(7);
    await list('later.csv', ['product,price,lowest', `${KETTLE},18.5,18`, `${LAMP},70,`]);
    const { code, stdout } = await watch(file, '--json');
    expect(code).toBe(0);
    expect(parseRows(stdout).map(({ changes }) => changes)).toEqual([
      [
        'own price 24.0000 → 18.5000',
        'position 3 → 1',
        'no longer below the allowed price: Gamma',
        'no longer below the allowed price: Alpha',
      ],
      ['new in the list'],
    ]);
  });

  test('with --compliance shows the first offender, its followers in order and how long each was below', async () => {
    const file = await list('below.csv', ['product,price,lowest', `${KETTLE},24,20`, `${TOASTER},12,9`]);
    const { code, stdout } = await watch(file, '--compliance', '--json');
    const { rows } = (JSON.parse(stdout) as { error: { facts: { rows: Record<string, unknown>[] } } }).error.facts;
    expect(
      rows.map((row) => [row.place, row.shop, row.from_at, row.to_at, row.days, row.lowest_price, row.alarm]),
    ).toEqual([
      [1, 'Beta', '2026-11-05T10:00:00Z', '2026-11-08T10:00:00Z', 3, 18, null],
      [2, 'Gamma', '2026-11-07T10:00:00Z', null, 5, 19, 'sure'],
      [3, 'Alpha', '2026-11-09T10:00:00Z', null, 3, 19.5, 'sure'],
    ]);
    expect(rows[0]).toMatchObject({
      product_id: KETTLE,
      item_id: 5001,
      landed: '{"price":[26,18]}',
      first_shop: 'Beta',
    });
    expect(code).toBe(7);
  });

  test('suggests a price for each line, never below the allowed price and never based on a suspicious price', async () => {
    const file = await list('suggest.csv', ['product,price,lowest', `${KETTLE},24,20`, `${TOASTER},12,9`, `${MUG},3,`]);
    const { code, stdout } = await watch(file, '--suggest', 'cheapest');
    expect(code).toBe(7);
    for (const reason of [
      'kept at the lowest allowed 20.00: Gamma 19.00',
      'matches Delta 9.50',
      'no price counts: unchanged',
    ])
      expect(stdout).toContain(reason);
    const median = parseRows(
      (await watch(await list('m.csv', ['product,price', `${KETTLE},24`]), '--suggest', 'median-5%', '--json')).stdout,
    );
    // Half of 19.5 and 24 is 21.75; 5 % less is 20.6625.
    expect(median).toMatchObject([{ suggested: 20.66, basis: 21.75, reason: '5 % below the median 21.75 of 4 shops' }]);
  });

  test('ignores suspicious prices, lists them with the reason, and raises no alarm for them', async () => {
    const file = await list('suspects.csv', ['product,price,lowest', `${TOASTER},12,9`]);
    const { code, stdout } = await watch(file, '--json');
    expect(code).toBe(0);
    expect(parseRows(stdout)).toMatchObject([
      {
        shops: 3,
        position: 4,
        cheapest: 9.5,
        cheapest_shop: 'Delta',
        undercut_by: ['Alpha', 'Beta', 'Delta'],
        below_shops: 0,
        below_now: [],
        alarms: 0,
        left_out: [expect.stringMatching(/^0\.1000 Gamma: the median of 4 shops is [0-9.]+ times as high$/u)],
        attribution: [CREDIT],
      },
    ]);
    const table = (await watch(file)).stdout;
    expect(table).toContain('0.10 Gamma: the median of 4 shops');
    expect(table).not.toContain('[');
    const suspects = await watch(file, '--json', '--with-suspects');
    expect(suspects.code).toBe(0);
    expect(parseRows(suspects.stdout)).toMatchObject([
      { shops: 4, cheapest: 0.1, below_shops: 1, below_now: ['Gamma'], alarms: 0, left_out: [], changes: null },
    ]);
    // The run with suspects saved no state.
    expect(parseRows((await watch(file, '--json')).stdout)[0]).toMatchObject({ changes: [] });
  });

  test('is unsure of an alarm if one price stands alone, gives the reason, and raises it with --unsure', async () => {
    const lines: [product: string, price: number, reason: string][] = [
      [VASE, 18, 'the lowest price stands alone: the next is 1.70 times as high'],
      [PEN, 19, 'your price is 1.90 times as high, and no other shop sells it'],
      [INK, 6, '1.67 times your price, and no other shop sells it'],
    ];
    const texts = lines.map(([product, price]) => `${product},${price},16`);
    const file = await list('unsure.csv', ['product,price,lowest', ...texts]);
    const { code, stdout } = await watch(file, '--json');
    const row = { below_now: ['Alpha'], alarms: 1, sure_alarms: 0, alarm: 'unsure' };
    const rows = lines.map(([product_id, , reason]) => ({
      product_id,
      ...row,
      unsure_because: [`10.0000 Alpha: ${reason}`],
    }));
    expect([code, parseRows(stdout)]).toMatchObject([0, rows]);
    const show = async (columns: number) =>
      (await runHere(['watch', '--lake', lake, '--list', file], { columns })).stdout;
    const wide = await show(400);
    for (const [, , reason] of lines) expect(wide).toContain(`10.00 Alpha: ${reason}`);
    const narrow = (await show(80)).split('\n');
    for (const [product] of lines) expect(narrow.find((line) => line.includes(product))).toMatch(/ unsure /u);
    const { code: alarmed, stdout: error } = await watch(file, '--unsure', '--json');
    expect([alarmed, JSON.parse(error)]).toMatchObject([
      7,
      { error: { code: 'below_allowed', facts: { products: lines.length, rows } } },
    ]);
    const { stdout: breaches } = await watch(file, '--compliance', '--json');
    expect(parseRows(breaches).map((one) => [one.product_id, one.is_now, one.alarm, one.unsure_because])).toEqual(
      lines.map(([product, , reason]) => [product, true, 'unsure', [reason]]),
    );
    for (const other of [['--compliance'], ['--suggest', 'cheapest']]) {
      expect((await watch(file, ...other)).code, other[0]).toBe(0);
      const raised = await watch(file, ...other, '--unsure');
      expect([raised.code, raised.stderr], other[0]).toEqual([7, expect.stringContaining('sell 3 products below')]);
    }
  });

  test('is sure of an alarm if other shops ask about as much, or if a single price is close to your own', async () => {
    const file = await list('sure.csv', ['product,price,lowest', `${BOOK},12,11`, `${PEN},15,11`]);
    const { code, stdout } = await watch(file, '--json');
    const row = { alarms: 1, sure_alarms: 1, alarm: 'sure', unsure_because: [] };
    expect([code, JSON.parse(stdout)]).toMatchObject([7, { error: { facts: { products: 2, rows: [row, row] } } }]);
  });

  test('reports when an alarm becomes sure or unsure', async () => {
    const alone = 'your price is 1.90 times as high, and no other shop sells it';
    const changes = async (price: number) => {
      const file = await list('surer.csv', ['product,price,lowest', `${PEN},${price},11`]);
      const { stdout } = await watch(file, '--unsure', '--json');
      return JSON.parse(stdout).error.facts.rows[0].changes;
    };
    expect(await changes(19)).toBe(null);
    expect(await changes(15)).toEqual(['own price 19.0000 → 15.0000', 'the alarm is sure now']);
    expect(await changes(19)).toEqual([
      'own price 15.0000 → 19.0000',
      `the alarm is unsure now: 10.0000 Alpha: ${alone}`,
    ]);
  });

  test('compares with a saved result that lacks a column', async () => {
    const state = join(folder, 'lacking.parquet');
    const watchAt = async (price: number) => {
      const file = await list('lacking.csv', ['product,price,lowest', `${PEN},${price},11`]);
      return JSON.parse((await watch(file, '--unsure', '--json', '--state', state)).stdout).error.facts.rows[0].changes;
    };
    await watchAt(19);
    const db = await Database.open();
    const saved = `read_parquet('${state}')`;
    await db.run(`CREATE TABLE saved AS SELECT * EXCLUDE (alarm, unsure_because) FROM ${saved}`);
    await db.run(`COPY saved TO '${state}' (FORMAT parquet)`);
    await db.close();
    expect(await watchAt(15)).toEqual(['own price 19.0000 → 15.0000']);
  });

  test('reports that no price counts', async () => {
    const file = await list('none.csv', ['product,price,lowest', `${MUG},3,2`]);
    const { code, stdout } = await watch(file, '--json');
    expect([code, parseRows(stdout)[0]]).toMatchObject([
      0,
      {
        is_matched: false,
        reason: 'no price counts: see left_out',
        left_out: ['0.0100 Alpha: a price of 0.0100 only fills the field'],
        undercut_by: [],
      },
    ]);
  });

  test('price indices also exclude the wrong price', async () => {
    const { stdout } = await runHere([
      ...['query', '--lake', lake, '--analysis', 'price_index', '--set', 'by=all', '--set', 'period=day', '--json'],
      ...['--set', 'since=2026-11-08', '--set', 'until=2026-11-11'],
    ]);
    const [last] = parseRows(stdout).slice(-1);
    expect(Number(last?.jevons)).toBeGreaterThan(90);
  });

  test('gives the reason why a line is not matched', async () => {
    const file = await list('odd.csv', [
      'product;price;currency',
      '4006381333932;1,50;',
      '9780306406157;2;',
      '4,00638E+12;3;',
      'acme-77;4;',
      `${KETTLE};5;USD`,
      '4012345678902;6;',
    ]);
    const { code, stdout } = await watch(file, '--json');
    expect(code).toBe(0);
    const rows = parseRows(stdout);
    expect(rows.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('check digit'),
      'no listing of this product',
      expect.stringContaining('cut short by a spreadsheet'),
      'no listing of this product',
      'sold in EUR alone',
      expect.stringContaining('check digit'),
    ]);
    expect(rows[0]).toMatchObject({ price: 1.5, is_matched: false, shops: 0, position: null });
  });

  test.each([
    ['decimal commas', ['1.299', '12,99', '1.234.567,5', '1299', '0,5'], [1299, 12.99, 1234567.5, 1299, 0.5]],
    ['decimal points', ['1,299', '12.99', '1,234,567.5', '1299', '0.5'], [1299, 12.99, 1234567.5, 1299, 0.5]],
  ])(
    'decides thousands separators in a list with semicolons by the %s of its other prices',
    async (_sign, texts, prices) => {
      const lines = texts.map((text, k) => `product-${k};${text}`);
      const { stdout } = await watch(await list('signs.csv', ['product;price', ...lines]), '--json');
      expect(parseRows(stdout).map(({ price }) => price)).toEqual(prices);
    },
  );

  test.each([
    ['UTF-16 LE', Buffer.from('\uFEFFproduct,price\nä,2\n', 'utf16le')],
    ['UTF-16 BE', Buffer.from('\uFEFFproduct,price\nä,2\n', 'utf16le').swap16()],
    ['Windows-1252', Buffer.from('product,price\nä,2\n', 'latin1')],
  ])('reports the encoding of a list in %s', async (name, bytes) => {
    const file = await list('encoded.csv', ['']);
    await writeFile(file, bytes);
    const { code, stderr } = await watch(file);
    expect(code).toBe(2);
    expect(stderr).toContain(name);
    expect(stderr).toContain('Save it as UTF-8');
  });

  test.each([
    ['product,price\n1,2', 'mine:2', 0],
    ['product,price\n4006381333931,cheap', ':2: price "cheap"', 2],
    ['product,price\n4006381333931,1.23456', ':2: price "1.23456"', 2],
    ['product,price,lowest,highest\n4006381333931,2,5,4', 'lowest 5 is above highest 4', 2],
    ['product,price\n4006381333931,2\n04006381333931,3', ':3: the product is already on line 2', 2],
    ['product,price,currency\n4006381333931,2,euros', 'currency "EUROS"', 2],
    ['gtin,price\n4006381333931,2', 'missing column product', 2],
    ['product,price\n', 'has no products', 2],
    ['', 'empty', 2],
    [
      'product,price,currency\r\n4006381333931,2,EUR\r\nb,3\r,EUR\r',
      'bad.csv:3: a carriage return is not followed by a newline',
      2,
    ],
    ['product,price\n"4006381333931\r\n",2\nb,3\r', 'bad.csv:4: the line ends with a carriage return, unlike', 2],
    [
      'product;price\n4006381333931;1.299',
      ':2: 1.299 is ambiguous, because it may mean 1299, or 1.299 with three decimals',
      2,
    ],
    [
      'product;price\n4006381333931;1,299',
      ':2: 1,299 is ambiguous, because it may mean 1299, or 1.299 with three decimals',
      2,
    ],
    ['product;price\n4006381333931;1,29\na;2.99', ':3: 2.99 has a point before its decimals, but 1,29 on line 2', 2],
  ])('refuses a list with the line and the problem: %j', async (text, message, exit) => {
    const file = await list('bad.csv', [text]);
    if (text === '') await writeFile(file, '');
    const { code, stderr } = await watch(file);
    expect(code).toBe(exit);
    if (exit === 2) expect(stderr).toContain(message);
  });

  test('writes every format, with the credits', async () => {
    const file = await list('formats.csv', ['product,price', `${KETTLE},24`]);
    const table = await watch(file);
    expect(table.stdout).toMatch(/Gamma/);
    expect(table.stdout).toContain(CREDIT);
    for (const format of ['csv', 'json', 'ndjson', 'arrow', 'parquet']) {
      const output = join(folder, `found.${format}`);
      expect((await watch(file, '--format', format, '--output', output)).code, format).toBe(0);
      expect((await readFile(output)).length, format).toBeGreaterThan(100);
    }
    expect(await readFile(join(folder, 'found.csv'), 'utf8')).toContain(`${KETTLE},`);
    expect((await watch(file, '--own-site', 'x')).stderr).toContain('--own-site x is not a site_id');
    const own = await watch(file, '--own-site', '3', '--json');
    expect(parseRows(own.stdout)[0]).toMatchObject({ shops: 3, cheapest_shop: 'Alpha' });
  });
});
