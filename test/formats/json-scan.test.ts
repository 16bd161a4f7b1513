import { describe, expect, test } from 'vitest';
import { findField, readElements, readFields, readInt64, type Slice } from '../../src/formats/json-scan.js';
import { createSeeded, type Seeded } from '../seeded.js';

const text = (bytes: Buffer, { start, end }: Slice) => bytes.toString('utf8', start, end);

function fieldsOf(json: string): Record<string, string> {
  const bytes = Buffer.from(json);
  return Object.fromEntries([...readFields(bytes)].map(([name, slice]) => [name, text(bytes, slice)]));
}

function elementsOf(json: string): string[] {
  const bytes = Buffer.from(json);
  return readElements(bytes, 0).map((slice) => text(bytes, slice));
}

describe('the fields of an object', () => {
  test('are found with the bytes of their values, in any white space', () => {
    expect(fieldsOf(' {"a" : 1 ,\r\n"b":"x",\t"c":{"d":[{}]},"e":null,"f":[1,"]"],"g":-1.5e+3} ')).toEqual({
      a: '1',
      b: '"x"',
      c: '{"d":[{}]}',
      e: 'null',
      f: '[1,"]"]',
      g: '-1.5e+3',
    });
    expect(fieldsOf('{}')).toEqual({});
    expect(fieldsOf('{ \n }')).toEqual({});
  });

  test('have unescaped names, and strings may contain structural characters', () => {
    expect(fieldsOf(String.raw`{"\u0061\"b":"}\"],\\","\\":"\\\"","😀":"{[","":0}`)).toEqual({
      'a"b': String.raw`"}\"],\\"`,
      '\\': String.raw`"\\\""`,
      '😀': '"{["',
      '': '0',
    });
  });

  test('end where the object ends, so that another line may follow', () => {
    const bytes = Buffer.from('{"a":1}\n{"a":2}\n');
    expect(text(bytes, readFields(bytes, 8).get('a') as Slice)).toBe('2');
  });

  test.each([
    ...['', ' ', 'x', '1', '"a"', '[]', '{', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{a:1}', '{"a" 1}'],
    ...['{"a":}', '{"a":1 "b":2}', '{"a":"x}', '{"a":[1}', '{"a":{"b":[}', '{"a\\', '{"\\x":1}', '<html>'],
    // Another character in the place of a colon or a comma.
    ...['{"a"x1}', '{"a";1}', '{"a":1 x"b":2}', '{"a":1 ;"b":2}', '["a":1}'],
  ])('of the invalid object %j are refused as not JSON', (json) => {
    expect(() => readFields(Buffer.from(json))).toThrow(SyntaxError);
  });

  test.each([
    ['["a":1}', 0],
    [' {xa":1}', 2],
    ['{"a" 1}', 5],
    ['{"a":1 "b":2}', 7],
    ['{"a":"x}', 5],
    ['{"a":}', 5],
  ])('of the invalid object %j are refused with the byte offset', (json, place) => {
    expect(() => readFields(Buffer.from(json))).toThrow(`not JSON at byte ${place}`);
  });
});

describe('one field', () => {
  test('is found without reading the fields after it', () => {
    const bytes = Buffer.from('{"x":{"id":1},"id":7,oops');
    expect(text(bytes, findField(bytes, 0, (name) => name === 'id') as Slice)).toBe('7');
    expect(() => findField(bytes, 0, (name) => name === 'title')).toThrow(SyntaxError);
  });

  test('is undefined if the object has no field of that name', () => {
    expect(findField(Buffer.from('{"a":{"id":1}}'), 0, (name) => name === 'id')).toBeUndefined();
  });
});

describe('the elements of an array', () => {
  test('are found with their bytes', () => {
    expect(elementsOf(' [ 1 , {"a":[2]} ,"]",[],true ]')).toEqual(['1', '{"a":[2]}', '"]"', '[]', 'true']);
    expect(elementsOf('[]')).toEqual([]);
    expect(elementsOf('[\n]')).toEqual([]);
  });

  test.each([
    ...['', '{1]', '{}', '[', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '[1 x2]', '["a";"b"]', '["a', '[{"a":1]', 'null'],
  ])('of the invalid array %j are refused as not JSON', (json) => {
    expect(() => readElements(Buffer.from(json), 0)).toThrow(SyntaxError);
  });
});

describe('an int64', () => {
  const read = (json: string) => readInt64(Buffer.from(json), { start: 0, end: Buffer.byteLength(json) });

  test.each(['0', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    '%s is parsed exactly',
    (json) => {
      expect(read(json)).toBe(BigInt(json));
    },
  );

  test.each([
    ...['9223372036854775808', '-9223372036854775809', '99999999999999999999', '1.0', '1e3', '01', '-', '', '+1'],
    ...['"1"', 'null', 'true', ' 1', '0x1', '1_0', '١'],
  ])('%j is refused', (json) => {
    expect(() => read(json)).toThrow(SyntaxError);
  });
});

/** Random JSON text with the white space and escapes that writers may use. */
function writeValue(random: Seeded, depth: number): string {
  const space = () => random.pick(['', '', ' ', '\n', '\t ', '\r\n']);
  const kind = random.integer(depth > 3 ? 4 : 6);
  if (kind === 0) return random.pick(['null', 'true', 'false', '0', '-1', '12.50', '1e9', '9007199254740993']);
  if (kind < 4) return writeString(random);
  const members = Array.from({ length: random.integer(5) }, (_, n) => {
    const value = `${space()}${writeValue(random, depth + 1)}${space()}`;
    return kind === 4 ? value : `${space()}${JSON.stringify(`${n}${random.text('ab"\\', 2)}`)}${space()}:${value}`;
  });
  return kind === 4 ? `[${members.join(',') || space()}]` : `{${members.join(',') || space()}}`;
}

function writeString(random: Seeded): string {
  const parts = ['a', 'ä', '😀', '{', '}', '[', ']', ',', ':', '\\"', '\\\\', '\\/', '\\n', '\\u0022', '\\u00e4', ' '];
  return `"${Array.from({ length: random.integer(8) }, () => random.pick(parts)).join('')}"`;
}

describe('random JSON', () => {
  test('is split into the same parts as by JSON.parse', () => {
    const random = createSeeded(31);
    let containers = 0;
    for (let n = 0; n < 3_000; n++) {
      const json = writeValue(random, 0);
      const value: unknown = JSON.parse(json);
      if (typeof value !== 'object' || value === null) continue;
      containers++;
      const parts = Array.isArray(value)
        ? elementsOf(json).map((part): unknown => JSON.parse(part))
        : Object.fromEntries(
            Object.entries(fieldsOf(json)).map(([name, part]): [string, unknown] => [name, JSON.parse(part)]),
          );
      expect(parts).toEqual(value);
    }
    expect(containers).toBeGreaterThan(500);
  });

  test('that is truncated or damaged yields parts or a SyntaxError, and the scan always ends', () => {
    const random = createSeeded(32);
    let refused = 0;
    for (let n = 0; n < 3_000; n++) {
      const bytes = Buffer.from(`{"a":${writeValue(random, 0)},"b":[${writeValue(random, 0)}]}`);
      const damaged = Buffer.from(bytes.subarray(0, 1 + random.integer(bytes.length)));
      damaged[random.integer(damaged.length)] = random.pick([...Buffer.from('"\\{}[],: 1')]);
      try {
        for (const slice of readFields(damaged).values()) expect(slice.end).toBeLessThanOrEqual(damaged.length);
      } catch (error) {
        expect(error).toBeInstanceOf(SyntaxError);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(1_000);
  });
});
