import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readLandedIds } from '../../src/source/item-files.js';
import { makeFolder } from '../journal/folder.js';

async function readIds(name: string, text: string): Promise<bigint[]> {
  const file = join(await makeFolder(), name);
  await writeFile(file, text);
  const ids: bigint[] = [];
  for await (const id of readLandedIds(file, (column) => column.toLowerCase() === 'itemid')) ids.push(id);
  return ids;
}

test('ids of JSON lines come exactly; blank and damaged rows, and those without one, have none', async () => {
  const lines = ['{"id":9,"itemId":9223372036854775807}', '', '{"id":1}', '{"itemId":"2"}', '{"itemId', '{"itemId":3}'];
  expect(await readIds('a.ndjson', lines.join('\n'))).toEqual([9223372036854775807n, 3n]);
});

test('ids of CSV come from their column; the header and cells that are no whole number have none', async () => {
  const rows = [',itemId', '"a, b",9223372036854775807', 'c,', 'd', 'e,5.0', 'x1,y2', '7,-3', 'f,5x', 'g,x5', '"h"i,8'];
  expect(await readIds('a.csv', rows.join('\n'))).toEqual([9223372036854775807n, -3n]);
});

test('CSV without a column of ids has none', async () => {
  expect(await readIds('a.csv', 'title,id\nA,1\n2,3\n')).toEqual([]);
});

test('a file that is not there is an error, not a file without items', async () => {
  const read = async (file: string) => {
    for await (const id of readLandedIds(file, () => true)) expect.unreachable(String(id));
  };
  const folder = await makeFolder();
  await expect(read(join(folder, 'a.csv'))).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(read(join(folder, 'a.ndjson'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a defect of our own is no damaged row', async () => {
  const file = join(await makeFolder(), 'a.ndjson');
  await writeFile(file, '{"id":1}');
  const isId = () => {
    throw new TypeError('a defect');
  };
  await expect(readLandedIds(file, isId).next()).rejects.toThrow('a defect');
});
