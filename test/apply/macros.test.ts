import { describe, expect, test } from 'vitest';
import { createSeeded } from '../seeded.js';
import { openMacros } from './macro-database.js';
import { toMoney } from './money.js';

const macros = await openMacros();

/** Expects the macro's result for each input of the table. */
async function expectResults(macro: string, table: Record<string, string | null>): Promise<void> {
  const inputs = Object.keys(table);
  const results = await macros.apply(macro, inputs);
  expect(Object.fromEntries(inputs.map((input, i) => [input, results[i]]))).toEqual(table);
}

/** Texts that SQL casts accept as numbers, although they aren't JSON numbers. */
const NO_NUMBERS = [
  ...['', ' ', '-', '.', 'e1', '1e', '.5', '5.', '-.5', '+5', '00012', '-012', '0012.5', ' 12', '12 ', '\t12', '12\n'],
  ...['1_000', '1,000', '1 000', '0x10', '0b11', '0o7', 'NaN', 'nan', 'infinity', '-Infinity', 'inf', 'null', 'true'],
  ...['١٢', '１２', '12\u00a0', '\ufeff12', '12€', '1e5.5', '--1', '1.2.3', "1'000"],
];

describe('exact_bigint', () => {
  test('accepts only an int64 in plain notation', async () => {
    await expectResults('exact_bigint', {
      '0': '0',
      '-1': '-1',
      '9007199254740993': '9007199254740993',
      '9223372036854775807': '9223372036854775807',
      '-9223372036854775808': '-9223372036854775808',
      '9223372036854775808': null,
      '-9223372036854775809': null,
      '-0': null,
      '1.0': null,
      '1e3': null,
      '99999999999999999999999999999999999999999': null,
    });
  });

  test('rejects texts that only look like a number', async () => {
    await expectResults('exact_bigint', Object.fromEntries(NO_NUMBERS.map((text) => [text, null])));
  });
});

describe('exact_money', () => {
  test('accepts numbers with up to fourteen digits before and four after the decimal point', async () => {
    await expectResults('exact_money', {
      '0': '0.0000',
      '-0': '0.0000',
      '-0.0': '0.0000',
      '12.5': '12.5000',
      '12.3456': '12.3456',
      '12.34560000000': '12.3456',
      '12.00000': '12.0000',
      '99999999999999.9999': '99999999999999.9999',
      '-99999999999999.9999': '-99999999999999.9999',
      '99999999999999.99990': '99999999999999.9999',
    });
  });

  test("never rounds: it rejects a value that doesn't fit", async () => {
    const misfits = ['0.00001', '12.34567', '99999999999999.99999', '100000000000000', '-100000000000000.0'];
    await expectResults('exact_money', Object.fromEntries(misfits.map((text) => [text, null])));
  });

  test('accepts an exponent if the value is exact, including a zero of any size', async () => {
    await expectResults('exact_money', {
      '1e3': '1000.0000',
      '1.5E1': '15.0000',
      '1E+2': '100.0000',
      '1e-4': '0.0001',
      '12345e-4': '1.2345',
      '1e13': '10000000000000.0000',
      '0e0': '0.0000',
      '-0.0e-30': '0.0000',
      '1e14': null,
      '-5717.0000000e11': null,
      '1e400': null,
      '1e-5': null,
      '123456e-5': null,
      '1e-20': null,
      '4e-19': null,
      '1.5e-30': null,
    });
  });

  test('rejects texts that only look like a number', async () => {
    await expectResults('exact_money', Object.fromEntries(NO_NUMBERS.map((text) => [text, null])));
  });

  test('agrees with exact arithmetic on random numbers', async () => {
    const random = createSeeded(11);
    const inputs = Array.from({ length: 20_000 }, () => {
      const whole = `${random.integer(9) + 1}${random.text('0123456789', random.integer(15))}`;
      const fraction = random.text(random.pick(['0', '0123456789']), random.integer(8));
      const exponent = random.integer(4) === 0 ? `e${random.pick(['', '+', '-'])}${random.integer(45)}` : '';
      return `${random.pick(['', '-'])}${whole}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
    });
    const results = await macros.apply('exact_money', inputs);
    let taken = 0;
    results.forEach((result, i) => {
      const input = inputs[i] as string;
      // Long texts with an exponent are rejected: JSON writers use exponents only for very small or very large numbers.
      if (result === null && input.includes('e') && input.length > 16) return;
      expect([input, result]).toEqual([input, toMoney(input)]);
      if (result !== null) taken++;
    });
    expect(taken).toBeGreaterThan(5_000);
  });
});

describe('exact_instant', () => {
  test('accepts date-times with Z or an offset, assumes UTC without one, and truncates to microseconds', async () => {
    await expectResults('exact_instant', {
      '2026-11-20T06:00:00Z': '2026-11-20 06:00:00+00',
      '2026-11-20T06:00:00.5Z': '2026-11-20 06:00:00.5+00',
      '2026-11-20T06:00:00.123456789Z': '2026-11-20 06:00:00.123456+00',
      '2026-11-20T06:00:00.999999999Z': '2026-11-20 06:00:00.999999+00',
      '1969-12-31T23:59:59.000001Z': '1969-12-31 23:59:59.000001+00',
      '2026-11-20T06:00:00+02:00': '2026-11-20 04:00:00+00',
      '2026-11-20T06:00:00-0030': '2026-11-20 06:30:00+00',
      '2026-11-20T06:00:00+05': '2026-11-20 01:00:00+00',
      '2026-11-20T06:00:00': '2026-11-20 06:00:00+00',
      '2026-11-20 06:00:00': '2026-11-20 06:00:00+00',
      '2024-02-29T00:00:00Z': '2024-02-29 00:00:00+00',
    });
  });

  test('accepts only the years 1 to 9999 in UTC and the end of a day, but no leap second', async () => {
    await expectResults('exact_instant', {
      '0001-01-01T00:00:00Z': '0001-01-01 00:00:00+00',
      '9999-12-31T23:59:59.999999999Z': '9999-12-31 23:59:59.999999+00',
      '1969-12-31T23:59:59.9999999Z': '1969-12-31 23:59:59.999999+00',
      '2026-11-20T24:00:00Z': '2026-11-21 00:00:00+00',
      '0000-12-31T23:59:59Z': null,
      '0001-01-01T00:00:00+01:00': null,
      '9999-12-31T24:00:00Z': null,
      '9999-12-31T23:59:59-01:00': null,
      '2016-12-31T23:59:60Z': null,
      '2016-12-31T23:59:60.5Z': null,
      '2026-11-20T24:00:01Z': null,
    });
  });

  test('rejects other texts that a cast would turn into a time', async () => {
    const others = [
      ...['', 'epoch', 'infinity', '-infinity', 'now', 'today', '1763618400', '2026-11-20', '2026/11/20 06:00:00'],
      ...['2026-1-2', '2026-11-20T6:00:00Z', '2026-11-20T06:00Z', ' 2026-11-20T06:00:00Z', '2026-11-20T06:00:00Z '],
      ...['2026-11-20T06:00:00 Europe/Berlin', '2026-11-20T06:00:00 NZ', '2026-11-20T06:00:00.5 NZ', '0044-03-15 (BC)'],
      ...['2026-02-30T00:00:00Z', '2026-11-20T25:00:00Z', '2026-11-20T06:60:00Z', '2026-11-20T06:00:00+99:00'],
      ...['12026-11-20T06:00:00Z', '294247-01-01T00:00:00Z', '2026-11-20T06:00:00,5Z', '٢٠٢٦-11-20T06:00:00Z'],
      ...['2026-11-20T06:00:00.Z', '2026-11-20T06:00:00.'],
    ];
    await expectResults('exact_instant', Object.fromEntries(others.map((text) => [text, null])));
  });

  test("rejects randomly damaged times that don't match the grammar", async () => {
    const random = createSeeded(12);
    const damaged = Array.from({ length: 20_000 }, () => {
      const chars = [...random.pick(['2026-11-20T06:00:00Z', '2026-11-20T06:00:00.123Z'])];
      for (let n = random.integer(2); n >= 0; n--) {
        chars.splice(random.integer(chars.length), random.integer(2), random.pick([...' 0123456789-:.TZ+NS/_']));
      }
      return chars.join('');
    });
    const results = await macros.apply('exact_instant', damaged);
    const grammar = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?$/;
    const wrong = damaged.filter((text, i) => results[i] !== null && !grammar.test(text));
    expect(wrong).toEqual([]);
  });
});

describe('a GTIN', () => {
  test('is padded to 14 digits if its check digit is correct', async () => {
    await expectResults('valid_gtin14', {
      '96385074': '00000096385074',
      '012345678905': '00012345678905',
      '4006381333931': '04006381333931',
      '04006381333931': '04006381333931',
      '4006381333932': null,
      '006381333931': null,
      '400638133393': null,
      '4-006381-333931': null,
      ' 4006381333931': null,
      '00000000': null,
      '00000000000000': null,
      '٤٠٠٦٣٨١٣٣٣٩٣١': null,
      abcdefgh: null,
      '': null,
    });
  });

  test('is identified by its digits in any notation', async () => {
    await expectResults('gtin_digits', {
      '4006381333931': '4006381333931',
      '04006381333931': '4006381333931',
      '00004006381333931': '4006381333931',
      '4-006381-333931': '4006381333931',
      ' 978-3-16-148410-0\n': '9783161484100',
      '12345678901234567890123': '12345678901234567890123',
      '000': null,
      'n/a': null,
      '': null,
    });
  });

  test('has the check digit that GS1 computes, for random digits of every length', async () => {
    const random = createSeeded(13);
    const gtins = Array.from({ length: 10_000 }, () => random.text('0123456789', random.pick([7, 8, 12, 13, 14, 15])));
    const results = await macros.apply('valid_gtin14', gtins);
    const expected = gtins.map((gtin) => (isGtin(gtin) ? gtin.padStart(14, '0') : null));
    expect(results).toEqual(expected);
    expect(expected.filter((gtin) => gtin !== null).length).toBeGreaterThan(400);
  });
});

function isGtin(gtin: string): boolean {
  if (![8, 12, 13, 14].includes(gtin.length) || /^0+$/.test(gtin)) return false;
  const sum = [...gtin].reverse().reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}

describe('product_key', () => {
  test.each([
    ['4006381333931', 'Brand', 'M-1', '4006381333931'],
    ['4006381333932', 'Brand', 'M-1', '4006381333932'],
    [null, 'Bosch', 'GSR 12V-15', 'bosch-gsr12v15'],
    [null, 'BOSCH ', 'gsr-12v.15', 'bosch-gsr12v15'],
    ['000', 'Æther', 'ß/1', 'æther-ß1'],
    ['n/a', 'Κνώσος', '№ 7', 'κνώσος-7'],
    [null, 'A', 'BC', 'a-bc'],
    [null, 'A-B', 'C', 'ab-c'],
    [null, '---', '1', null],
    [null, 'A', '…', null],
    [null, 'A', null, null],
    [null, null, '1', null],
    [null, null, null, null],
  ])('of GTIN %j, brand %j and part number %j is %j', async (gtin, brand, mpn, key) => {
    const row = await macros.db.row('SELECT product_key($1, $2, $3) AS key', [gtin, brand, mpn]);
    expect(row?.key).toBe(key);
  });
});

describe('macros with several values', () => {
  const ask = async (call: string) => (await macros.db.row(`SELECT ${call} AS answer`))?.answer;
  const time = (text: string | null) =>
    text === null ? 'NULL::TIMESTAMPTZ' : `TIMESTAMPTZ '2026-11-20 ${text}:00+00'`;
  const shows = (macro: string, ...times: (string | null)[]) => ask(`${macro}(${times.map(time).join(', ')}, NULL)`);

  test('a pair of amounts is exact JSON, with null for a missing amount', async () => {
    const pair = (a: string, b: string) => ask(`money_pair(${a}::DECIMAL(18, 4), ${b}::DECIMAL(18, 4))`);
    expect(await pair('1.5', '99999999999999.9999')).toBe('[1.5000,99999999999999.9999]');
    expect([await pair('1.5', 'NULL'), await pair('NULL', '2')]).toEqual(['[1.5000,null]', '[null,2.0000]']);
  });

  test('names_price is false without changes', async () => {
    expect(await ask('names_price(NULL::DECIMAL(18, 4), 1::DECIMAL(18, 4), NULL::VARCHAR)')).toBe(false);
  });

  test('JSON objects are equal in any order and spacing, and other JSON values are compared as text', async () => {
    const members = (json: string) => ask(`json_members('${json}')`);
    expect(await members('{"b": [1, 2], "a": "x"}')).toBe(await members('{"a":"x","b":[1,2]}'));
    expect(await members('{"a":"x","b":[1,2]}')).not.toBe(await members('{"a":"x","b":[2,1]}'));
    expect(await members('{"a":{"y":1,"x":null},"b":2}')).toBe(await members('{"b":2,"a":{"x":null,"y":1}}'));
    expect(await members('{"a":{"y":1,"x":null}}')).not.toBe(await members('{"a":{"y":null,"x":1}}'));
    expect(await members('{"a":{"y":1,"x":null}}')).not.toBe(await members('{"a":{"y":1}}'));
    expect([await members('[2,1]'), await members('"x"')]).toEqual(['[2,1]', '"x"']);
  });

  test.each([
    ['earlier', ['05:00', null, null], ['05:01', null, null], false, true],
    ['at the same time', ['05:00', null, null], ['05:00', null, null], false, false],
    ['later', ['05:01', null, null], ['05:00', null, null], false, false],
    ['at an unknown time', [null, null, null], ['05:00', null, null], false, false],
    ["earlier by less than the feed's delay", ['05:00', null, null], ['05:02', null, null], true, false],
    ["earlier by more than the feed's delay", ['04:59', null, null], ['05:02', null, null], true, true],
    ['at the same time and seen before a removal', ['05:00', '06:00', null], ['05:00', null, '06:01'], true, true],
    ['a little earlier and seen before a removal', ['04:59', '06:00', null], ['05:00', null, '06:01'], true, true],
    ['later and seen before a removal', ['05:01', '06:00', null], ['05:00', null, '06:01'], true, false],
    ['at the same time and seen at the removal', ['05:00', '06:00', null], ['05:00', null, '06:00'], true, false],
    ['at the same time and seen at an unknown time', ['05:00', null, null], ['05:00', null, '06:00'], true, false],
    ['at the same time, removed before it was seen', ['05:00', null, '06:00'], ['05:00', '06:01', null], true, true],
    [
      'at the same time, removed at the time it was seen',
      ['05:00', null, '06:00'],
      ['05:00', '06:00', null],
      true,
      false,
    ],
    ['at the same time, removed in both', ['05:00', null, '06:00'], ['05:00', '06:01', '06:30'], true, false],
  ])('a row that changed %s: %j beside %j, which agree %s, is the older: %s', async (_name, a, b, agree, answer) => {
    expect(await ask(`is_older_row(${[...a, ...b].map(time).join(', ')}, ${agree}, NULL)`)).toBe(answer);
  });

  test.each([
    ['07:00', null, null, '06:00', null, true],
    ['06:00', null, null, '06:00', null, false],
    [null, '06:01', null, '06:00', null, true],
    [null, '06:00', null, '06:00', null, false],
    [null, null, null, '06:00', null, false],
    [null, null, '04:00', '06:00', null, true],
    [null, null, '04:58', '06:00', '05:00', true],
    [null, null, '04:57', '06:00', '05:00', false],
  ])('a row changed %s, seen %s, removed %s shows a removal at %s after a listing at %s: %s', async (...row) => {
    const [changed, seen, removed, observed, listed, answer] = row;
    expect(await shows('shows_removal', changed, seen, removed, observed, listed)).toBe(answer);
  });

  test.each([
    ['06:00', null, '05:00', '06:00', null, true],
    ['05:59', null, '05:00', '06:00', null, false],
    [null, '04:58', null, '06:00', '05:00', true],
    [null, '04:57', null, '06:00', '05:00', false],
    [null, '03:00', null, '06:00', null, true],
    [null, null, null, '06:00', '05:00', true],
    [null, null, '06:01', '06:00', null, true],
    [null, null, '06:00', '06:00', null, false],
  ])('a row changed %s, seen %s, removed %s shows a relisting at %s after a removal at %s: %s', async (...row) => {
    const [changed, seen, removed, observed, before, answer] = row;
    expect(await shows('shows_relisting', changed, seen, removed, observed, before)).toBe(answer);
  });
});
