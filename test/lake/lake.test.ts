import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDamagedLake } from '../../src/lake/damaged-lake.js';
import { findLake, openLake } from '../../src/lake/lake.js';
import { makeFolder } from './fixture.js';

test('a missing or empty folder becomes a lake and can be opened again', async () => {
  for (const path of [await makeFolder(), join(await makeFolder(), 'a', 'b')]) {
    const lake = await openLake(path, { create: true });
    expect(await readFile(join(lake.root, '_pricelake', 'format.json'), 'utf8')).toBe(
      '{"format":"pricelake","version":3}\n',
    );
    expect(await openLake(path, { create: false })).toEqual(lake);
    await writeFile(join(path, 'lake.json'), '{}');
    expect(await openLake(path, { create: true })).toEqual(lake);
  }
});

test('a folder with other content is refused and left untouched', async () => {
  const folder = await makeFolder();
  await writeFile(join(folder, 'thesis.doc'), 'x');
  const file = join(folder, 'thesis.doc');
  for (const open of [(path: string) => openLake(path, { create: true }), findLake]) {
    await expect(open(folder)).rejects.toMatchObject({
      code: 'lake_invalid',
      message: `${folder}: not a lake: it contains thesis.doc; nothing was changed`,
      facts: { hint: expect.stringContaining('lake.path') },
    });
    expect(await readdir(folder)).toEqual(['thesis.doc']);
    await expect(open(file)).rejects.toThrow(`${file}: not a lake: it contains ${file}`);
  }
});

test('a foreign _pricelake folder is refused, but one left incomplete by a crash is accepted', async () => {
  const [foreign, half] = [await makeFolder(), await makeFolder()];
  await mkdir(join(foreign, '_pricelake'));
  await writeFile(join(foreign, '_pricelake', 'notes.txt'), 'x');
  await expect(openLake(foreign, { create: true })).rejects.toThrow('it contains _pricelake/notes.txt');
  await mkdir(join(half, '_pricelake', 'tmp'), { recursive: true });
  await mkdir(join(half, 'lost+found'));
  await openLake(half, { create: true });
});

test('a reader of a missing lake gets an error with a hint and creates nothing', async () => {
  const path = join(await makeFolder(), 'none');
  const error = await openLake(path, { create: false }).catch((error: unknown) => error);
  expect(error).toMatchObject({
    code: 'lake_invalid',
    message: `${path}: there is no lake here`,
    facts: { hint: expect.stringContaining('pricelake sync') },
  });
  await expect(readdir(path)).rejects.toThrow('ENOENT');
  expect(await findLake(path)).toEqual({ root: path });
  await expect(readdir(path)).rejects.toThrow('ENOENT');
});

/** A lake in which runs have landed. */
async function makeLanded(landings = ['000001-20261120T120000Z']): Promise<string> {
  const { root } = await openLake(await makeFolder(), { create: true });
  for (const name of landings) await mkdir(join(root, '_pricelake', 'landing', name), { recursive: true });
  return root;
}

const markerOf = (root: string) => join(root, '_pricelake', 'format.json');

test('a lake with a missing or damaged marker opens for repair, unchanged, if runs have landed in it', async () => {
  const root = await makeLanded();
  expect(await openDamagedLake(root)).toEqual({ lake: { root }, damage: undefined, isOtherFormat: false });
  for (const text of ['{', '7', 'null', '{"format":"other","version":1}', '{"format":"pricelake","version":"1"}']) {
    await writeFile(markerOf(root), text);
    const { lake, damage, isOtherFormat } = await openDamagedLake(root);
    expect([lake, damage?.startsWith(`${markerOf(root)}: `), isOtherFormat]).toEqual([{ root }, true, false]);
    expect(await readFile(markerOf(root), 'utf8')).toBe(text);
  }
  await writeFile(markerOf(root), '{');
  expect((await openDamagedLake(root)).damage).toBe(`${markerOf(root)}: not JSON`);
  await rm(markerOf(root));
  expect((await openDamagedLake(root)).damage).toBe(`${markerOf(root)}: missing`);
});

test('a lake of another format version opens only for repair', async () => {
  const root = await makeLanded();
  await writeFile(markerOf(root), '{"format":"pricelake","version":4}');
  const message = `${markerOf(root)}: the lake has format 4, but this version of pricelake reads format 3`;
  expect(await openDamagedLake(root)).toEqual({ lake: { root }, damage: message, isOtherFormat: true });
  await expect(findLake(root)).rejects.toMatchObject({ code: 'lake_invalid', message });
});

test.each([[[]], [['notes']], [['x000001-a', '00001-a']]])(
  'a folder without a marker whose landing folder contains %j is not opened for repair',
  async (landings) => {
    const root = await makeLanded(landings);
    await rm(markerOf(root));
    await expect(openDamagedLake(root)).rejects.toMatchObject({ code: 'lake_invalid' });
  },
);
