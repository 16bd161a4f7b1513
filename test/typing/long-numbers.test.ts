import { describe, expect, test } from 'vitest';
import { findLongNumbers, NUMBER_MARK, NumberQuoter } from '../../src/typing/long-numbers.js';
import { createSeeded, type Seeded } from '../seeded.js';

function found(text: string): string[] {
  const bytes = Buffer.from(text);
  return findLongNumbers(bytes).map(({ start, end }) => bytes.toString('utf8', start, end));
}

/** Returns the text after quoting, and after removing the quotes again. */
function passThrough(text: string): { quoted: string; restored: string } {
  const bytes = Buffer.from(text);
  const quoted = new NumberQuoter().quote(bytes, findLongNumbers(bytes)).toString('utf8');
  return { quoted, restored: quoted.replaceAll(new RegExp(`"${NUMBER_MARK}([^"]*)"`, 'g'), '$1') };
}

describe('a number that a double or an int64 may change', () => {
  test.each([
    ['0.1234567890123456', true],
    ['-0.12345678901234', true],
    ['12345678901234.5678', true],
    ['1234567890123456789', true],
    ['-9223372036854775808', true],
    ['98765432109876543210987654321', true],
    ['1.2345678901234e-10', true],
    ['123456789012345678', false],
    ['9007199254740993', false],
    ['12345678901234.5', true],
    ['1234567890123.4', false],
    ['12.5', false],
    ['1e10', false],
    ['0', false],
  ])('%s is found: %j, at any place', (number, atRisk) => {
    for (const [before, after] of [
      ['{"a":', '}\n'],
      ['{"a": ', ' }'],
      ['[', ',1]'],
      ['[1,', ']'],
      ['[\n', '\n]'],
      [`{"${'x'.repeat(40)}":`, ',"b":2}'],
    ]) {
      expect(found(`${before}${number}${after}`)).toEqual(atRisk ? [number] : []);
    }
  });

  test('is found at every distance from the start', () => {
    const number = '0.1234567890123456';
    for (let spaces = 0; spaces < 40; spaces++) expect(found(`${' '.repeat(spaces)}[${number}]`)).toEqual([number]);
  });

  test('is found among many others', () => {
    const numbers = Array.from({ length: 50 }, (_, n) => `${n}.123456789012345678`);
    expect(found(`[${numbers.join(',')}]`)).toEqual(numbers);
  });
});

describe('text that resembles such a number', () => {
  test.each([
    '"12345678901234567890.5"',
    '"a, 12345678901234567890.5, b"',
    '"a: 12345678901234567890.5 ]"',
    String.raw`"\" 12345678901234567890.5 ,"`,
    String.raw`"\\\\\" 12345678901234567890.5 ,"`,
    '"2026-11-20 12345678901234567890"',
    '"https://x.example/12345678901234567890"',
    '"--------------------------------"',
    '"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"',
  ])('is left unchanged: %s', (text) => {
    expect(found(`{"a":${text},"b":1}`)).toEqual([]);
    expect(found(`{${text}:1}\n`)).toEqual([]);
  });

  test('is left unchanged in a line, and a number after it is found', () => {
    expect(found(String.raw`{"a":"x\\","b":1234567890.1234567890}`)).toEqual(['1234567890.1234567890']);
    expect(found('{"a":"1234567890.12345678"}\n{"b":1234567890.12345678}\n')).toEqual(['1234567890.12345678']);
  });
});

function writeNumber(random: Seeded): string {
  const digits = (most: number) => random.text('0123456789', 1 + random.integer(most));
  const whole =
    random.integer(3) === 0 ? '0' : `${1 + random.integer(9)}${random.text('0123456789', random.integer(22))}`;
  const fraction = random.integer(2) === 0 ? '' : `.${digits(20)}`;
  const exponent =
    random.integer(4) === 0 ? `${random.pick(['e', 'E'])}${random.pick(['', '+', '-'])}${digits(3)}` : '';
  return `${random.pick(['', '-'])}${whole}${fraction}${exponent}`;
}

/** Writes random JSON, and appends the numbers among its values to `numbers`, in order. */
function writeJson(random: Seeded, depth: number, numbers: string[]): string {
  const kind = random.integer(depth > 3 ? 2 : 4);
  const space = () => random.pick(['', '', ' ', '\t']);
  if (kind === 0) {
    const number = writeNumber(random);
    numbers.push(number);
    return number;
  }
  if (kind === 1) {
    const parts = ['a', ' ', ',', ':', '[', '\\"', '\\\\', '\\n', 'ä', writeNumber(random), writeNumber(random)];
    return `"${Array.from({ length: random.integer(6) }, () => random.pick(parts)).join('')}"`;
  }
  const members = Array.from({ length: random.integer(5) }, (_, n) => {
    const name = kind === 2 ? '' : `"${random.pick(['k', writeNumber(random)])}${n}"${space()}:`;
    return `${space()}${name}${space()}${writeJson(random, depth + 1, numbers)}${space()}`;
  });
  return kind === 2 ? `[${members.join(',')}]` : `{${members.join(',')}}`;
}

/** Whether a double or an int64 keeps all digits. */
function isSafe(number: string): boolean {
  return number.length <= 15 || (number.length <= 18 && /^\d+$/.test(number));
}

describe('random numbers in random JSON', () => {
  test('are all found if they are at risk, and nothing else is changed', () => {
    const random = createSeeded(41);
    let quotedNumbers = 0;
    for (let n = 0; n < 2_000; n++) {
      const numbers: string[] = [];
      const lines = Array.from({ length: 1 + random.integer(3) }, () => `${writeJson(random, 0, numbers)}\n`).join('');
      const risky = numbers.filter((number) => !isSafe(number));
      expect(found(lines)).toEqual(risky);
      const { quoted, restored } = passThrough(lines);
      expect(restored).toBe(lines);
      for (const line of quoted.trimEnd().split('\n')) JSON.parse(line);
      quotedNumbers += risky.length;
    }
    expect(quotedNumbers).toBeGreaterThan(1_000);
  });
});
