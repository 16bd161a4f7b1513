import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explainBehind, type Pointer, readPointer } from '../../src/lake/pointer.js';
import { makeBareLake } from './log-writer.js';

const file = { path: 'items/a.parquet', rows: 9007199254740991, bytes: 5 };
const POINTER = {
  format: 'pricelake',
  version: 1,
  pipeline: 'prices',
  runId: 'r1',
  runNumber: 7,
  cursor: '9223372036854775807',
  at: '2026-11-20T12:00:00.000Z',
  tables: { items: { version: 3, rows: 9007199254740991, files: [file, { ...file, sha256: 'ab' }] } },
};

async function read(text: string) {
  const lake = await makeBareLake();
  await writeFile(join(lake.root, 'lake.json'), text);
  return readPointer(lake);
}

test('lake.json is read with exact numbers', async () => {
  const rows = 9007199254740991n;
  expect(await read(JSON.stringify(POINTER))).toStrictEqual({
    ...POINTER,
    runNumber: 7n,
    cursor: 9223372036854775807n,
    at: new Date('2026-11-20T12:00:00Z'),
    tables: {
      items: {
        version: 3n,
        rows,
        files: [
          { ...file, rows },
          { ...file, rows, sha256: 'ab' },
        ],
      },
    },
  });
  expect((await read(JSON.stringify({ ...POINTER, cursor: null })))?.cursor).toBeNull();
  expect((await read(JSON.stringify({ ...POINTER, cursor: '-1' })))?.cursor).toBe(-1n);
});

test.each([
  ['cut', JSON.stringify(POINTER).slice(0, -1)],
  ['empty', ''],
  ['null', 'null'],
  ['of another program', JSON.stringify({ ...POINTER, format: 'iceberg' })],
  ['of another format', JSON.stringify({ ...POINTER, version: 2 })],
  ...['12x', 'x12', '', '1.5', '0x12', '12 '].map((cursor) => [
    `at the cursor "${cursor}"`,
    JSON.stringify({ ...POINTER, cursor }),
  ]),
  ['of half a run', JSON.stringify({ ...POINTER, runNumber: 1.5 })],
  ['without files', JSON.stringify({ ...POINTER, tables: { items: { version: 3, rows: 1 } } })],
  ['of tables that are not known', JSON.stringify({ ...POINTER, tables: { ...POINTER.tables, brands: {} } })],
  ['without tables', JSON.stringify({ ...POINTER, tables: undefined })],
])('a lake.json %s is damaged, and the error explains how to recreate it', async (_what, text) => {
  await expect(read(text as string)).rejects.toMatchObject({
    code: 'lake_invalid',
    message: expect.stringMatching(/lake\.json: the file is damaged or has another format$/),
    facts: { hint: expect.stringContaining('pricelake lake rebuild') },
    cause: expect.any(Error),
  });
});

const lake = { root: '/lake' };
const pointerTo = (version: bigint, ...paths: string[]) =>
  ({ tables: { items: { version, files: paths.map((path) => ({ path })) } } }) as unknown as Pointer;
const explain = (version: bigint, paths: string[], pointer?: Pointer) =>
  explainBehind(lake, { table: 'items', version, paths }, pointer);

test("a log that lake.json doesn't list, or that is ahead of it, has not fallen behind", () => {
  expect(explain(0n, [])).toBeUndefined();
  expect(explain(0n, [], { tables: {} } as Pointer)).toBeUndefined();
  expect(explain(4n, ['b'], pointerTo(3n, 'items/a'))).toBeUndefined();
});

test('a log without its last entries has fallen behind', () => {
  expect(explain(2n, [], pointerTo(3n))).toBe('/lake/items: its log ends at version 2, but lake.json lists version 3');
});

test('a log of the same version with different files has fallen behind', () => {
  const pointer = pointerTo(3n, 'items/a', 'items/b');
  expect(explain(3n, ['b', 'a'], pointer)).toBeUndefined();
  for (const paths of [['a'], ['a', 'c'], ['a', 'b', 'c'], []]) {
    expect(explain(3n, paths, pointer)).toBe(
      `/lake/items: version 3 of its log has ${paths.length} files, but lake.json lists 2, or different files`,
    );
  }
});
