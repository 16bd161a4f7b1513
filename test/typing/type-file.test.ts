import { describe, expect, test } from 'vitest';
import { toMoney } from '../apply/money.js';
import { createSeeded, type Seeded } from '../seeded.js';
import { itemLine, openTyping } from './typing.js';

const typing = await openTyping();

const BROKEN = '{"id": 99, "title": "cut';
const changeLine = (members: Record<string, string>) => {
  const site = '{"id":7,"name":"Shop","host":"shop.example","attribution":null}';
  const all = {
    id: '1',
    kind: '"CHANGED"',
    observedAt: '"2026-11-20T06:00:00Z"',
    price: '1',
    previousPrice: 'null',
    changes: '{}',
    item: `{"id":5,"title":"A","url":null,"currency":"EUR","site":${site}}`,
    ...members,
  };
  return `{${Object.entries(all)
    .map(([name, json]) => `"${name}":${json}`)
    .join(',')}}`;
};

/** As they are, and in a file with a broken line, which takes the slow way. */
const WAYS: [string, string[]][] = [
  ['in bulk', []],
  ['row by row', [BROKEN]],
];

function writePrice(random: Seeded): string {
  const whole = random.pick([
    '0',
    '9',
    '99999999999999',
    `${1 + random.integer(9)}${random.text('0123456789', random.integer(15))}`,
  ]);
  const fraction = random.text(random.pick(['0', '9', '0123456789']), random.integer(7));
  return `${random.pick(['', '-'])}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

const LIMITS = [0n, 2n ** 31n, 2n ** 53n, 10n ** 15n, 10n ** 18n, 2n ** 63n];

describe('values of items', () => {
  test.each(WAYS)('are exact or rejected, never rounded: prices, typed %s', async (_way, others) => {
    const random = createSeeded(51);
    const prices = Array.from({ length: 3_000 }, () => writePrice(random));
    const lines = prices.map((price, n) => itemLine({ id: String(n), price }));
    const rows = await typing.items([...lines, ...others].map((line) => `${line}\n`).join(''));
    const typed = new Map(
      (await rows.select('SELECT item_id, price FROM typed')).map(([id, price]) => [Number(id), price]),
    );
    const rejected = (await rows.rejects()).length - others.length;
    prices.forEach((price, n) => {
      expect([price, typed.get(n) ?? null]).toEqual([price, toMoney(price)]);
    });
    expect(rejected).toBe(prices.filter((price) => toMoney(price) === null).length);
    expect(typed.size).toBeGreaterThan(1_000);
  });

  test.each(WAYS)('are exact or rejected, never rounded: int64 near its limits, typed %s', async (_way, others) => {
    const ids = LIMITS.flatMap((limit) => [-2n, -1n, 0n, 1n, 2n].flatMap((step) => [limit + step, -limit + step]));
    const lines = [...new Set(ids)].map((id) => itemLine({ id: String(id), source: `{"modelId":${id}}` }));
    const rows = await typing.items([...lines, ...others].map((line) => `${line}\n`).join(''));
    const typed = await rows.select('SELECT item_id, source_id FROM typed');
    const fitting = [...new Set(ids)].filter((id) => BigInt.asIntN(64, id) === id).map(String);
    expect(typed.map(([id]) => id).sort()).toEqual(fitting.sort());
    expect(typed.every(([id, source]) => id === source)).toBe(true);
  });

  test.each(WAYS)('inside attributes keep all digits of long numbers, typed %s', async (_way, others) => {
    const attributes =
      '{"serial":12345678901234567890123,"ratio":0.12345678901234567890,"list":[-1.23456789012345678],"s":"1.23456789012345678"}';
    const rows = await typing.items([itemLine({ attributes }), ...others].map((line) => `${line}\n`).join(''));
    expect(await rows.select('SELECT attributes FROM typed')).toEqual([[attributes]]);
  });

  test.each(WAYS)('inside attributes have one spelling for each number, typed %s', async (_way, others) => {
    const attributes = '{"a":[4.0,1.50,-0,-0.0,1.2e3,1E+5,12e-7,1e-7,1e21,123456e10,0.000001,1e5],"b":-12.0}';
    const rows = await typing.items([itemLine({ attributes }), ...others].map((line) => `${line}\n`).join(''));
    const printed = '[4.0,1.5,0,-0.0,1200.0,100000.0,0.0000012,1e-7,1e21,1234560000000000.0,0.000001,100000.0]';
    expect(await rows.select('SELECT attributes FROM typed')).toEqual([[`{"a":${printed},"b":-12.0}`]]);
  });

  test('may be text in place of a number, if the text is exactly a number', async () => {
    const rows = await typing.items(
      `${itemLine({ id: '"5"', price: '"12.50"' })}\n${itemLine({ price: '" 12.5"' })}\n`,
    );
    expect(await rows.select('SELECT item_id, price FROM typed')).toEqual([['5', '12.5000']]);
    expect(await rows.rejects()).toMatchObject([{ reason: 'price " 12.5" does not fit DECIMAL(18,4)' }]);
  });
});

describe('lines of items', () => {
  test.each([
    ['CRLF', `${itemLine({})}\r\n\r\n${itemLine({ id: '2' })}\r\n`, 2],
    ['blank lines', `\n\n${itemLine({})}\n\n\n${itemLine({ id: '2' })}\n\n`, 2],
    ['lines of white space', ` \n${itemLine({})}\n\t \r\n\r\r\n${itemLine({ id: '2' })} \n  `, 2],
    ['no last newline', `${itemLine({})}\n${itemLine({ id: '2' })}`, 2],
    ['U+2028 inside a text', `${itemLine({ title: '"a\u2028b"' })}\n`, 1],
    ['nothing at all', '', 0],
    ['a blank line only', '\n', 0],
    ['white space only', ' \n \t\n ', 0],
  ])('with %s are all read', async (_name, text, count) => {
    const rows = await typing.items(text);
    expect((await rows.select('SELECT item_id FROM typed')).length).toBe(count);
    expect(await rows.rejects()).toEqual([]);
  });

  test('that have not been removed are listed', async () => {
    const removed = ['null', '"2026-11-20T06:00:00Z"'].map((removedAt, n) => itemLine({ id: String(n), removedAt }));
    const rows = await typing.items(removed.map((line) => `${line}\n`).join(''));
    expect((await rows.select('SELECT item_id, is_listed FROM typed')).sort()).toEqual([
      ['0', 'true'],
      ['1', 'false'],
    ]);
  });

  test("that can't be typed are rejected with their place and text, and the others are kept", async () => {
    const cases: [string, RegExp][] = [
      [BROKEN, /not valid JSON/],
      [`${itemLine({})}${itemLine({})}`, /not valid JSON/],
      ['{"id":1,"id":2,"site":{"id":7}}', /Duplicate key 'id'/],
      ['[1,2]', /not a JSON object/],
      ['null', /not a JSON object/],
      [itemLine({ title: '"cut \\ud83d"' }), /lone surrogate/],
      [itemLine({ price: 'NaN' }), /not valid JSON/],
      [itemLine({ price: '012' }), /not valid JSON/],
      [itemLine({ title: '"a\tb"' }), /not valid JSON/],
      [itemLine({ price: 'true' }), /price "true" does not fit/],
      [itemLine({ price: '""' }), /price "" does not fit/],
      ['{"site":{"id":7}}', /id null is not an int64/],
      ['{"id":1}', /site\.id null is not an int64/],
      [itemLine({ id: '1.5' }), /id "1\.5" is not an int64/],
      ['{"id":1,"site":{"id":"x"}}', /site\.id "x" is not an int64/],
      [itemLine({ site: '[7]' }), /site is not an object/],
      [itemLine({ datasets: '{"a":1}' }), /datasets is not a list/],
      [itemLine({ removedAt: '"2026-11-20"' }), /removedAt "2026-11-20" is not a date-time/],
      [itemLine({ lastSeenAt: '"epoch"' }), /lastSeenAt "epoch" is not a date-time/],
    ];
    const lines = cases.flatMap(([line], n) => [itemLine({ id: String(1000 + n) }), '', line]);
    const rows = await typing.items(lines.map((line) => `${line}\n`).join(''));
    const [[kept]] = (await rows.select('SELECT count(*) FROM typed WHERE item_id >= 1000')) as [[string]];
    expect(kept).toBe(String(cases.length));
    const rejects = new Map((await rows.rejects()).map(({ line, ...reject }) => [line, reject]));
    expect(rejects.size).toBe(cases.length);
    cases.forEach(([raw, reason], n) => {
      expect(rejects.get(String(n * 3 + 3))).toEqual({ raw, reason: expect.stringMatching(reason) });
    });
  });

  test.each([
    ['an id that is not an integer', { id: '1.5' }],
    ['an id beyond int64', { id: '9223372036854775808' }],
    ['a price with five decimals', { price: '1.23456' }],
    ['a price with too many digits', { price: '123456789012345678' }],
    ['the price true', { price: 'true' }],
    ['an invalid time', { lastSeenAt: '"soon"' }],
    ['a site that is not an object', { site: '7', source: '{"modelId":1,"name":"A"}' }],
    ['datasets that are not a list', { datasets: '{"a":1}' }],
  ])('that have %s are detected and rejected, even a single one among good lines', async (_name, members) => {
    const bad = itemLine(members);
    const rows = await typing.items([itemLine({ id: '1' }), bad, itemLine({ id: '2' })].map((l) => `${l}\n`).join(''));
    expect(await rows.select('SELECT item_id FROM typed ORDER BY 1')).toEqual([['1'], ['2']]);
    expect(await rows.rejects()).toMatchObject([{ line: '2', raw: bad }]);
  });

  test("that exceed the parser's limit are rejected by their size, and lines at the limit are kept", async () => {
    const large = itemLine({ id: '1', title: `"${'x'.repeat(15_900_000)}"` });
    const tooLarge = itemLine({ id: '2', title: `"${'ä'.repeat(8_400_000)}"` });
    const rows = await typing.items([large, tooLarge, itemLine({ id: '3' })].map((line) => `${line}\n`).join(''));
    expect(await rows.select('SELECT item_id, length(title) > 15000000 FROM typed ORDER BY 1')).toEqual([
      ['1', 'true'],
      ['3', expect.anything()],
    ]);
    const [reject, ...others] = await rows.rejects();
    expect(others).toEqual([]);
    const bytes = Buffer.byteLength(tooLarge);
    expect(reject).toMatchObject({
      line: '2',
      reason: `the row has ${bytes} bytes, but the limit is 16777216`,
    });
    const raw = String(reject?.raw);
    expect(raw).toMatch(/ä… \(\d+ bytes in all\)$/);
    expect(raw.length).toBeLessThan(1_100_000);
  });

  test('that are nested 100,000 levels deep are rejected beside a broken line, and the others are kept', async () => {
    const deep = itemLine({ attributes: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}` });
    const rows = await typing.items([deep, BROKEN, itemLine({ id: '3' })].map((line) => `${line}\n`).join(''));
    expect(await rows.select('SELECT item_id FROM typed')).toEqual([['3']]);
    expect(await rows.rejects()).toMatchObject(
      [{ reason: 'nested more than 500 levels deep' }, { reason: /not valid JSON/ }].map(({ reason }, index) => ({
        line: String(index + 1),
        reason: expect.stringMatching(reason),
      })),
    );
  });

  test('with a time at the limit of its column are exact to the microsecond, or rejected with a reason', async () => {
    const times = [
      '0000-01-01T00:00:00Z',
      '2016-12-31T23:59:60Z',
      '2026-11-20T24:00:00Z',
      '2026-11-20T06:00:00.123456789Z',
    ];
    const lines = times.map((time, index) => itemLine({ id: String(index), lastSeenAt: `"${time}"` }));
    const rows = await typing.items(lines.map((line) => `${line}\n`).join(''));
    expect(await rows.select('SELECT item_id, epoch_us(last_seen_at) FROM typed ORDER BY 1')).toEqual([
      ['2', String(Date.UTC(2026, 10, 21) * 1000)],
      ['3', String(Date.UTC(2026, 10, 20, 6) * 1000 + 123_456)],
    ]);
    expect((await rows.rejects()).map(({ reason }) => reason)).toEqual(
      times.slice(0, 2).map((time) => `lastSeenAt "${time}" is not a date-time of the years 1 to 9999`),
    );
  });

  test('that are not UTF-8 are rejected', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"id":1,"title":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from(`","site":{"id":7}}\n${itemLine({ id: '2' })}\n`),
    ]);
    const rows = await typing.items(bytes, 2);
    expect(await rows.select('SELECT item_id FROM typed')).toEqual([['2']]);
    expect(await rows.rejects()).toMatchObject([{ line: '1', reason: 'not valid UTF-8' }]);
  });

  test('that are more or fewer than the landed rows are refused', async () => {
    await expect(typing.items(`${itemLine({})}\n`, 2)).rejects.toMatchObject({
      code: 'contract',
      message: expect.stringContaining('2 rows landed, but pricelake could read only 1 of them as separate lines'),
    });
  });

  test('keep unknown fields in extra, with quotes in names and long numbers', async () => {
    const line = itemLine({ 'we"ird': '{"a":[1,0.12345678901234567890]}', "it's": 'null', ünï: '"x"' });
    const rows = await typing.items(`${line}\n${itemLine({ id: '2' })}\n`);
    const [[first], [second]] = (await rows.select('SELECT extra FROM typed ORDER BY item_id')) as [string[], string[]];
    expect(first).toContain('0.12345678901234567890');
    expect(JSON.parse(first as string)).toEqual({ 'we"ird': { a: [1, 0.12345678901234568] }, ünï: 'x' });
    expect(second).toBeNull();
  });
});

describe('changes', () => {
  test('are typed with or without their item, and keep an unknown kind', async () => {
    const rows = await typing.changes([
      changeLine({
        id: '9223372036854775807',
        previousPrice: '0.1',
        changes: '{"price":[0.1,1],"x":[null,1.23456789012345678]}',
      }),
      changeLine({ id: '2', item: 'null', price: 'null', kind: '"REPRICED"' }),
    ]);
    const sql = 'SELECT change_id, item_id, kind, price, previous_price, changes, site_id FROM typed ORDER BY 1';
    expect(await rows.select(sql)).toEqual([
      ['2', null, 'REPRICED', null, null, '{}', null],
      [
        '9223372036854775807',
        '5',
        'CHANGED',
        '1.0000',
        '0.1000',
        '{"price":[0.1,1],"x":[null,1.23456789012345678]}',
        '7',
      ],
    ]);
  });

  test('have their time to the microsecond, its day, and their origin', async () => {
    const observedAt = '"2026-11-20T06:00:00.000001Z"';
    const sql = 'SELECT observed_at, observed_date, origin, run_id FROM typed';
    for (const origin of ['feed', 'webhook', 'history'] as const) {
      const rows = await typing.changes([changeLine({ observedAt })], origin);
      expect(await rows.select(sql)).toEqual([['2026-11-20 06:00:00.000001+00', '2026-11-20', origin, 'run']]);
    }
  });

  test("that can't be typed are rejected with their place, and the others are kept", async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{ kind: 'null' }, /kind is missing/],
      [{ observedAt: 'null' }, /observedAt null is not a date-time/],
      [{ observedAt: '"yesterday"' }, /observedAt "yesterday" is not a date-time/],
      [{ id: '"x"' }, /id "x" is not an int64/],
      [{ id: 'null' }, /id null is not an int64/],
      [{ price: '1.00001' }, /price "1\.00001" does not fit/],
      [{ previousPrice: '"-"' }, /previousPrice "-" does not fit/],
      [{ item: '{"id":"x"}' }, /item\.id "x" is not an int64/],
      [{ item: '{"id":1,"site":{"id":0.5}}' }, /item\.site\.id "0\.5" is not an int64/],
      [{ item: '7' }, /item is not an object/],
      [{ item: '{"id":1,"site":"Shop"}' }, /item\.site is not an object/],
    ];
    const lines = cases.flatMap(([members], n) => [
      changeLine({ id: String(1000 + n) }),
      changeLine({ id: String(n), ...members }),
    ]);
    const rows = await typing.changes(lines);
    const kept = (await rows.select('SELECT change_id FROM typed ORDER BY 1')).flat();
    expect(kept).toEqual(cases.map((_, n) => String(1000 + n)));
    const rejects = new Map((await rows.rejects()).map(({ line, reason }) => [line, reason]));
    cases.forEach(([, reason], n) => {
      expect(rejects.get(String(n * 2 + 2))).toMatch(reason);
    });
  });
});
