/** Answers of a service that are not as the document says: cut, repeated, with other bytes, names or values. */
import type { Seeded } from '../seeded.js';

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/g;
/** A cell of CSV is a token as well. */
const CELL = /"(?:[^"]|"")*"|[^,"\r\n]+/g;

const VALUES = [
  'null',
  'true',
  '-1',
  '0',
  '1e400',
  '1e-400',
  '9223372036854775808',
  '-9223372036854775809',
  '0.1',
  '1.5',
]
  .concat([
    '""',
    '" "',
    '"x"',
    '"\\u0000"',
    '"\\ud800"',
    '"\\ufeff"',
    '"NaN"',
    '"2026-13-45T99:99:99Z"',
    '"0001-01-01T00:00:00Z"',
  ])
  .concat([
    '[]',
    '{}',
    '[[]]',
    '{"id":1}',
    '[null]',
    '"../../x"',
    '"=1+1"',
    '"\'; DROP TABLE items; --"',
    '"\\r\\n"',
    'NaN',
    '+1',
    '01',
  ])
  .concat([`${'['.repeat(3000)}${']'.repeat(3000)}`, `"${'x'.repeat(70_000)}"`, '9'.repeat(400)]);

const WAYS = ['value', 'value', 'value', 'name', 'bytes', 'cut', 'twice', 'empty'] as const;

export interface ChangedAnswer {
  /** How it was changed, for people. */
  what: string;
  body: Buffer;
}

export function changeAnswer(body: Buffer, random: Seeded): ChangedAnswer {
  const way = random.pick(WAYS);
  const text = body.toString('latin1');
  if (way === 'empty') return { what: 'empty', body: Buffer.alloc(0) };
  if (way === 'twice') return { what: 'twice', body: Buffer.concat([body, body]) };
  if (way === 'cut') return { what: 'cut', body: body.subarray(0, random.integer(body.length + 1)) };
  if (way === 'bytes') return { what: 'bytes', body: changeBytes(body, random) };
  const isJson = /^\s*[[{]/.test(text);
  const tokens = [...text.matchAll(isJson ? TOKEN : CELL)].filter(
    (token) => !isJson || isName(text, token) === (way === 'name'),
  );
  if (tokens.length === 0) return { what: 'bytes', body: changeBytes(body, random) };
  const token = random.pick(tokens);
  const value = way === 'name' ? `"${random.text('idpricecursor', 5)}"` : random.pick(VALUES);
  const end = token.index + token[0].length;
  const what = `${way} ${token[0].slice(0, 40)} → ${value.slice(0, 40)}`;
  return { what, body: Buffer.from(text.slice(0, token.index) + value + text.slice(end), 'latin1') };
}

const isName = (text: string, token: RegExpExecArray) =>
  /^\s*:/.test(text.slice(token.index + token[0].length, token.index + token[0].length + 8));

function changeBytes(body: Buffer, random: Seeded): Buffer {
  const bytes = [...body];
  for (let n = 1 + random.integer(3); n > 0; n--) {
    const at = random.integer(bytes.length + 1);
    bytes.splice(at, random.integer(3), ...Array.from({ length: random.integer(3) }, () => random.integer(256)));
  }
  return Buffer.from(bytes);
}
