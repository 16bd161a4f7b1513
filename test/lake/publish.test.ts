import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPointer } from '../../src/lake/pointer.js';
import { publishPointer, refreshPointer } from '../../src/lake/publish.js';
import type { Lake } from '../../src/tables/layout.js';
import { AT } from './fixture.js';
import { add, CREATED, makeBareLake, remove, writeEntry } from './log-writer.js';

const FILES = ['lake.json', 'catalog.sql', 'ATTRIBUTION.md'];
const RUN = { pipeline: 'prices', runId: 'r1', runNumber: 7n, cursor: 2n ** 63n - 1n, at: AT, attributions: [] };

const readFiles = ({ root }: Lake) => Promise.all(FILES.map((name) => readFile(join(root, name), 'utf8')));

/** A lake whose `items` has two files with three rows in total. */
async function makeWritten(): Promise<Lake> {
  const lake = await makeBareLake();
  const named = (name: string, rows: number) => ({
    add: { ...(add(name, rows).add as object), tags: { sha256: name } },
  });
  await writeEntry(lake, 0n, [...CREATED, named('b.parquet', 1), named('a.parquet', 2)]);
  return lake;
}

test('lake.json records the run, and the version, rows and files of each existing table', async () => {
  const lake = await makeWritten();
  await publishPointer(lake, RUN);
  const [text = '', catalog, attribution] = await readFiles(lake);
  expect(JSON.parse(text)).toMatchObject({
    ...{ format: 'pricelake', version: 1, pipeline: 'prices', runId: 'r1', runNumber: 7 },
    ...{ cursor: '9223372036854775807', at: AT.toISOString() },
  });
  const { tables } = (await readPointer(lake)) ?? {};
  expect(Object.keys(tables ?? {})).toEqual(['items']);
  expect(tables?.items).toMatchObject({ version: 0n, rows: 3n });
  expect(tables?.items?.files.map(({ path, rows, bytes }) => [path, rows, bytes])).toEqual([
    ['items/a.parquet', 2n, 10],
    ['items/b.parquet', 1n, 10],
  ]);
  expect(catalog).toContain('items/a.parquet');
  expect(catalog).toMatch(/CREATE OR REPLACE VIEW "?items"?[^;]*items\/a\.parquet',\n {2}'items\/b\.parquet/);
  expect(catalog).toContain('CREATE OR REPLACE VIEW price_spells AS\n');
  expect(attribution).toContain('No site in this lake requires a credit.');
});

test('a file that would not change is not rewritten', async () => {
  const lake = await makeWritten();
  await publishPointer(lake, RUN);
  const inodes = () => Promise.all(FILES.map(async (name) => (await stat(join(lake.root, name))).ino));
  const before = await inodes();
  await publishPointer(lake, RUN);
  expect(await inodes()).toEqual(before);
});

test('after a commit that changes only files, the facts of the newest run remain', async () => {
  const lake = await makeWritten();
  await refreshPointer(lake);
  expect(await readPointer(lake)).toBeUndefined();
  await publishPointer(lake, RUN);
  await writeEntry(lake, 1n, [remove('a.parquet', 5), add('c.parquet', 2)]);
  await refreshPointer(lake);
  const pointer = await readPointer(lake);
  expect(pointer).toMatchObject({ pipeline: 'prices', runId: 'r1', runNumber: 7n, cursor: 2n ** 63n - 1n, at: AT });
  expect(pointer?.tables.items).toMatchObject({ version: 1n, rows: 3n });
  expect((await readFiles(lake))[1]).toContain('items/c.parquet');
});

test('rows that another program changed are not published', async () => {
  const lake = await makeWritten();
  await publishPointer(lake, RUN);
  const before = await readFiles(lake);
  await writeEntry(lake, 1n, [remove('a.parquet', 5)], { engineInfo: 'other 1', operation: 'DELETE' });
  await expect(publishPointer(lake, RUN)).rejects.toMatchObject({ code: 'lake_invalid' });
  await expect(refreshPointer(lake)).rejects.toMatchObject({ code: 'lake_invalid' });
  expect(await readFiles(lake)).toEqual(before);
});
