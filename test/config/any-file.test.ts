// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of pipeline files look like this
/** Files that a user writes, with any content: they are read, or refused by a message with the place and the problem. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadWatchList } from '../../src/analyze/watch-list.js';
import { readPipeline } from '../../src/config/pipeline-file.js';
import { readUserMatches } from '../../src/config/user-matches.js';
import { PricelakeError } from '../../src/io/errors.js';
import { packagePath } from '../../src/io/package-path.js';
import { Database } from '../../src/sql/connection.js';
import { RUNS_FACTOR } from '../property-runs.js';

const CANARY = 'live_canary_5f2c81';
const ENV = { PRICELAKE_API_KEY: CANARY, PRICELAKE_WEBHOOK_SECRET: `whsec_${CANARY}` };

let folder: string;
let shipped: string;
let db: Database;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-any-'));
  shipped = await readFile(packagePath('pipelines/prices.yaml'), 'utf8');
  db = await Database.open();
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

/** Reads the bytes as a file. A refusal names the file, in one line, and no secret. */
async function readOrRefuse(name: string, bytes: string | Uint8Array, read: (file: string) => Promise<unknown>) {
  const file = path.join(folder, name);
  await writeFile(file, bytes);
  const error = await read(file).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) return;
  expect(error, inspect(error)).toBeInstanceOf(PricelakeError);
  const { code, message, facts } = error as PricelakeError;
  expect(['config', 'usage']).toContain(code);
  expect(message).toContain(file);
  expect(`${message}${facts.hint ?? ''}`).not.toContain('\n');
  expect(inspect(error, { depth: 20 })).not.toContain(CANARY);
}

const SCALARS = [
  '',
  'null',
  '~',
  '0',
  '-1',
  '1e999',
  '9007199254740993',
  'true',
  '[]',
  '{}',
  '"',
  '*a',
  '&a x',
  '!!binary x',
].concat([
  '${NOPE}',
  '${PRICELAKE_API_KEY}',
  '${',
  '- x',
  '? y',
  '|',
  '@x',
  '\u0000',
  '2026-11-28',
  '1d',
  '7 days',
  'all',
]);

/** The shipped file with a few lines whose value, place or bytes are changed. */
const edits = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    how: fc.constantFrom('value', 'indent', 'drop', 'twice', 'insert', 'comment'),
    text: fc.oneof(fc.constantFrom(...SCALARS), fc.string({ maxLength: 12, unit: 'binary' })),
  }),
  { minLength: 1, maxLength: 4 },
);

function edit(text: string, changes: { at: number; how: string; text: string }[]): string {
  const lines = text.split('\n');
  for (const { at, how, text: value } of changes) {
    const index = Math.floor(at * lines.length);
    const line = lines[index] ?? '';
    if (how === 'value') lines[index] = line.replace(/:.*$/u, () => `: ${value}`);
    if (how === 'indent') lines[index] = `  ${line}`;
    if (how === 'drop') lines.splice(index, 1);
    if (how === 'twice') lines.splice(index, 0, line);
    if (how === 'insert') lines.splice(index, 0, value);
    // Most of the file is commented out.
    if (how === 'comment') lines[index] = line.replace(/^(\s*)# ?/u, '$1');
  }
  return lines.join('\n');
}

test('the pipeline file, after any edit, is read or refused with the place of the error', () =>
  fc.assert(
    fc.asyncProperty(edits, (changes) =>
      readOrRefuse('prices.yaml', edit(shipped, changes), (file) => readPipeline(file, ENV)),
    ),
    { seed: 2026, numRuns: 100 * RUNS_FACTOR },
  ));

test('a pipeline file, matches or a price list of any bytes is read or refused with the place of the error', () =>
  fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      await readOrRefuse('any.yaml', bytes, (file) => readPipeline(file, ENV));
      await readOrRefuse('matches.csv', bytes, readUserMatches);
      await readOrRefuse('list.csv', bytes, (list) => loadWatchList(db, { list }));
    }),
    { seed: 2026, numRuns: 30 * RUNS_FACTOR },
  ));

const CELLS = [
  '',
  '4006381333931',
  '12.99',
  '12,99',
  '1.234,50',
  '-1',
  '1e5',
  'EUR',
  'eur',
  'yes',
  'no',
  '"',
  '"a""b"',
  'NaN',
  'acme-r1',
];
const cell = fc.oneof(fc.constantFrom(...CELLS), fc.string({ maxLength: 8 }));
const table = fc.record({
  mark: fc.constantFrom('', '\uFEFF'),
  delimiter: fc.constantFrom(',', ';', '\t'),
  end: fc.constantFrom('\n', '\r\n', '\r'),
  rows: fc.array(fc.array(cell, { minLength: 1, maxLength: 5 }), { maxLength: 6 }),
});

const LINE_ENDS_IN_QUOTES: [{ mark: string; delimiter: string; end: string; rows: string[][] }][] = [
  [
    {
      mark: '',
      delimiter: ',',
      end: '\n',
      rows: [
        ['4006381333931', '"', ''],
        ['"', '', '', ''],
      ],
    },
  ],
  [{ mark: '', delimiter: ',', end: '\n', rows: [['acme-r1', 'acme-r2', '"#'], ['#"']] }],
];

test.each([
  [
    'a price list',
    ['product', 'price', 'currency', 'lowest', 'highest'],
    (list: string) => loadWatchList(db, { list }),
  ],
  ['matches', ['product', 'other', 'match'], readUserMatches],
])('%s with any cells is read or refused with its line', (_, header, read) =>
  fc.assert(
    fc.asyncProperty(table, ({ mark, delimiter, end, rows }) => {
      const text = mark + [header, ...rows].map((row) => row.join(delimiter)).join(end);
      return readOrRefuse('table.csv', text, read);
    }),
    { seed: 2026, numRuns: 40 * RUNS_FACTOR, examples: LINE_ENDS_IN_QUOTES },
  ),
);
