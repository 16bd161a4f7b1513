import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { observeRows } from '../../src/apply/observe.js';
import { makeFolder } from '../journal/folder.js';

/** Files of rows of a kilobyte; ids go on from file to file. */
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

test('all rows of files that are small together are looked at', async () => {
  expect(await observe(await writeFiles([2000, 1, 3000]))).toEqual(Array.from({ length: 5001 }, (_, id) => id));
});

test('of larger ones the first megabyte is, and some rows of each further one and of each file', async () => {
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
