import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/io/limits.js';
import { NUMBER_MARK } from '../../src/typing/long-numbers.js';
import { observeRows, quoteFile } from '../../src/typing/observe.js';
import { makeFolder } from '../journal/folder.js';

/** Writes files with rows of a kilobyte; ids continue from file to file. */
async function writeFiles(rows: readonly number[]): Promise<string[]> {
  const folder = await makeFolder();
  let id = 0;
  const paths: string[] = [];
  for (const [index, count] of rows.entries()) {
    const lines = Array.from({ length: count }, () => `{"id":${id++},"title":"${'x'.repeat(1000)}"}\n`);
    paths.push(path.join(folder, `${index}.ndjson`));
    await writeFile(paths[index] as string, lines.join(''));
  }
  return paths;
}

async function observe(paths: readonly string[]): Promise<number[]> {
  const ids: number[] = [];
  await observeRows(
    paths.map((path) => ({ path })),
    (row) => {
      if (row !== undefined) ids.push((row as { id: number }).id);
    },
  );
  return ids;
}

test('all rows are observed if the files are small together', async () => {
  expect(await observe(await writeFiles([2000, 1, 3000]))).toEqual(Array.from({ length: 5001 }, (_, id) => id));
});

test('of larger files the first megabyte is observed, and some rows of each further megabyte and each file', async () => {
  const ids = await observe(await writeFiles([3000, 5, 6000]));
  const looked = (first: number, last: number) => ids.filter((id) => id >= first && id <= last).length;
  expect(looked(0, 1000)).toBe(1001);
  expect(looked(3000, 3004)).toBe(5);
  for (const megabyte of [1, 2]) expect(looked(megabyte * 1000, megabyte * 1000 + 999)).toBeGreaterThan(9);
  for (const megabyte of [0, 1, 2, 3, 4, 5]) {
    expect(looked(3005 + megabyte * 1000, 3004 + (megabyte + 1) * 1000)).toBeGreaterThan(9);
  }
  expect(ids.length).toBeLessThan(1300);
});

/** Writes a text, and has its long numbers quoted in a copy. */
async function quote(text: string) {
  const source = path.join(await makeFolder(), 'rows.ndjson');
  await writeFile(source, text);
  const landed = await quoteFile(source, '2026-11-20T06:00:00Z', await makeFolder());
  return { ...landed, isCopy: landed.path !== source, text: await readFile(landed.path, 'utf8') };
}

test('a file with numbers that DuckDB would round is copied with these numbers quoted, wherever the first one is', async () => {
  const rows = Array.from({ length: 9000 }, (_, id) => `{"id":${id},"title":"${'x'.repeat(1000)}","price":1.5}\n`);
  const plain = rows.join('');
  expect(await quote(plain)).toMatchObject({ isCopy: false, marked: false, hasTooLarge: false, text: plain });
  for (const places of [[0], [4500], [8999], [3, 8000]]) {
    const replace = (price: string) =>
      rows.map((row, place) => (places.includes(place) ? row.replace('1.5', price) : row)).join('');
    const { text, ...landed } = await quote(replace('1.23456789012345678'));
    expect(text === replace(`"${NUMBER_MARK}1.23456789012345678"`)).toBe(true);
    expect(landed).toMatchObject({ isCopy: true, marked: true, hasTooLarge: false, part: 'rows.ndjson' });
  }
});

test('a row too large for DuckDB is detected, and one that just fits is not', async () => {
  const row = (bytes: number) => `{"id":1,"title":"${'x'.repeat(bytes - 19)}"}`;
  expect(row(100)).toHaveLength(100);
  const isNoticed = async (text: string) => (await quote(text)).hasTooLarge;
  expect(await isNoticed(`{"id":0}\n${row(LIMITS.rowBytes)}\n{"id":2}\n`)).toBe(false);
  expect(await isNoticed(`{"id":0}\n${row(LIMITS.rowBytes + 1)}\n{"id":2}\n`)).toBe(true);
  expect(await isNoticed(row(LIMITS.rowBytes))).toBe(false);
  expect(await isNoticed(row(LIMITS.rowBytes + 1))).toBe(true);
});
