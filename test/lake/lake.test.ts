import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { makeFolder } from './fixture.js';

test('a missing or empty folder becomes a lake, and opens again', async () => {
  const folder = await makeFolder();
  for (const path of [folder, join(folder, 'a', 'b')]) {
    const lake = await openLake(path, { create: true });
    expect(await readFile(join(lake.root, '_pricelake', 'format.json'), 'utf8')).toBe(
      '{"format":"pricelake","version":1}\n',
    );
    expect(await openLake(path, { create: false })).toEqual(lake);
    await writeFile(join(path, 'lake.json'), '{}');
    expect(await openLake(path, { create: true })).toEqual(lake);
    if (path === folder) break;
  }
});

test('a folder that holds something else is refused and left untouched', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'thesis.doc'), 'x');
  await expect(openLake(folder, { create: true })).rejects.toMatchObject({ code: 'lake_invalid' });
  expect(await readdir(folder)).toEqual(['thesis.doc']);
  await expect(openLake(join(folder, 'thesis.doc'), { create: true })).rejects.toMatchObject({ code: 'lake_invalid' });
});

test('a foreign _pricelake folder is refused; one that a crash left half made is not', async () => {
  const [foreign, half] = [await makeFolder(), await makeFolder()];
  await mkdir(join(foreign, '_pricelake'));
  await writeFile(join(foreign, '_pricelake', 'notes.txt'), 'x');
  await expect(openLake(foreign, { create: true })).rejects.toThrow('it holds _pricelake/notes.txt');
  await mkdir(join(half, '_pricelake', 'tmp'), { recursive: true });
  await mkdir(join(half, 'lost+found'));
  await openLake(half, { create: true });
});

test('a reader gets an error with a hint where there is no lake, and makes none', async () => {
  const path = join(await makeFolder(), 'none');
  const error = await openLake(path, { create: false }).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'lake_invalid', facts: { hint: expect.stringContaining('pricelake sync') } });
  await expect(readdir(path)).rejects.toThrow('ENOENT');
});

test.each(['{"format":"pricelake","version":2}', '{"format":"other"}', '{'])(
  'the marker %s is refused',
  async (text) => {
    const folder = await makeFolder();
    await mkdir(join(folder, '_pricelake'));
    await writeFile(join(folder, '_pricelake', 'format.json'), text);
    await expect(openLake(folder, { create: true })).rejects.toMatchObject({ code: 'lake_invalid' });
  },
);
