import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createExclusively, writeDurably } from '../../src/lake/durable.js';
import { privatePath } from '../../src/tables/layout.js';
import { makeBareLake } from './log-writer.js';

test('a file is replaced whole, and not written where its text would stay', async () => {
  const lake = await makeBareLake();
  const path = join(lake.root, 'a.txt');
  await writeDurably(lake, path, 'one');
  const { ino } = await stat(path);
  await writeDurably(lake, path, 'one');
  expect((await stat(path)).ino).toBe(ino);
  await writeDurably(lake, path, 'two');
  expect([await readFile(path, 'utf8'), (await stat(path)).ino === ino]).toEqual(['two', false]);
  expect(await readdir(privatePath(lake, 'tmp'))).toEqual([]);
});

test('a write that fails leaves the old text, and nothing beside', async () => {
  const lake = await makeBareLake();
  const folder = join(lake.root, 'folder');
  await mkdir(folder);
  await writeFile(join(folder, 'a.txt'), 'old');
  await expect(writeDurably(lake, folder, 'new')).rejects.toThrow();
  expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('old');
  expect(await readdir(privatePath(lake, 'tmp'))).toEqual([]);
});

test('a name is given once: who comes later is told, and changes nothing', async () => {
  const lake = await makeBareLake();
  const path = join(lake.root, 'a.json');
  expect([await createExclusively(lake, path, 'one'), await createExclusively(lake, path, 'two')]).toEqual([
    true,
    false,
  ]);
  expect(await readFile(path, 'utf8')).toBe('one');
  await expect(createExclusively(lake, join(lake.root, 'none', 'a.json'), 'x')).rejects.toMatchObject({
    code: 'ENOENT',
  });
  expect(await readdir(privatePath(lake, 'tmp'))).toEqual([]);
});

test('a write that can not begin says why, not what clearing up met', async () => {
  const lake = await makeBareLake();
  await rm(privatePath(lake, 'tmp'), { recursive: true });
  const path = join(lake.root, 'a.txt');
  for (const write of [writeDurably, createExclusively]) {
    await expect(write(lake, path, 'x')).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
  }
});
