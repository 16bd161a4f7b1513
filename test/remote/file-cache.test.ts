/** Files that the tasks of a machine share. */
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { FileCache } from '../../src/remote/join-exchange.js';
import type { Download } from '../../src/remote/store-exchange.js';
import { makeFolder } from '../journal/folder.js';

const fileOf = (letter: string) => ({ name: `work/${letter}`, bytes: 10, sha256: letter.repeat(64) });

async function openCache(maxBytes = 1000) {
  const folder = await makeFolder();
  const place = path.join(folder, 'cache');
  const asked: string[] = [];
  const download: Download = async ({ name, bytes }, to) => {
    asked.push(name);
    await writeFile(to, 'x'.repeat(bytes));
  };
  const cache = new FileCache(place, maxBytes);
  const bring = (letter: string, as: string) => cache.bring(fileOf(letter), path.join(folder, as), download);
  return { folder, place, asked, cache, bring };
}

test('a file comes once to a machine, whatever name it has in a task', async () => {
  const { folder, asked, bring } = await openCache();
  await bring('a', 'task-1');
  await bring('a', 'task-2');
  expect(asked).toEqual(['work/a']);
  expect(await readFile(path.join(folder, 'task-2'), 'utf8')).toBe('x'.repeat(10));
});

test('the files used longest ago go first, and a task that has one keeps it', async () => {
  const { folder, place, cache, bring, asked } = await openCache(25);
  for (const [at, letter] of ['a', 'b', 'c'].entries()) {
    await bring(letter, `task-${letter}`);
    await utimes(path.join(place, letter.repeat(64)), at, at);
  }
  await bring('a', 'later'); // used again
  await cache.shrink();
  expect((await readdir(place)).sort()).toEqual(['a', 'c'].map((letter) => letter.repeat(64)));
  expect((await stat(path.join(folder, 'task-b'))).size).toBe(10);
  await bring('b', 'again');
  expect(asked).toEqual(['work/a', 'work/b', 'work/c', 'work/b']);
});

test('what a killed download left goes after an hour, and nothing that is under way', async () => {
  const { place, cache, bring } = await openCache(0);
  await bring('a', 'task');
  const [old, young] = ['old', 'young'].map((name) => path.join(place, `${'d'.repeat(64)}.${name}`)) as [
    string,
    string,
  ];
  for (const file of [old, young]) await writeFile(file, 'half');
  const then = Date.now() / 1000 - 3700;
  await utimes(old, then, then);
  await cache.shrink();
  expect(await readdir(place)).toEqual([path.basename(young)]);
});

test('a folder that others can write to is left alone', async () => {
  const { place, asked, bring } = await openCache();
  await mkdir(place);
  await chmod(place, 0o777);
  await writeFile(path.join(place, 'a'.repeat(64)), 'forged');
  await bring('a', 'task');
  expect(asked).toEqual(['work/a']);
});
