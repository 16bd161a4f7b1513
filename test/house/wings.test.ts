import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeFolder } from '../journal/folder.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LIST = 'src/wings/list.ts';
const STORIES = 'test/house/kernel-stories.ts';
const COPIED = ['src', 'pipelines', 'schemas', 'package.json', 'tsconfig.json', STORIES];
/** Rooms that offer wings to users by their names. */
const ROOMS_OF_COMMANDS = ['src/cli'];

const wings = readdirSync(path.join(ROOT, 'src/wings'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** A copy of the project without some wings and their lines. */
async function copyWithout(deleted: readonly string[]): Promise<string> {
  const root = await makeFolder();
  for (const name of COPIED) cpSync(path.join(ROOT, name), path.join(root, name), { recursive: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(root, 'node_modules'));
  for (const name of [...ROOMS_OF_COMMANDS, ...deleted.map((wing) => `src/wings/${wing}`)])
    rmSync(path.join(root, name), { recursive: true });
  const lines = readFileSync(path.join(ROOT, LIST), 'utf8').split('\n');
  const left = lines.filter((line) => !deleted.some((wing) => line.includes(`./${wing}/`)));
  expect(lines.length - left.length).toBe(deleted.length);
  writeFileSync(path.join(root, LIST), [...left, 'export {};'].join('\n'));
  const settings = { extends: './tsconfig.json', include: ['src', STORIES] };
  writeFileSync(path.join(root, 'tsconfig.left.json'), JSON.stringify(settings));
  return root;
}

function run(root: string, program: string, ...args: string[]): string {
  const file = path.join(ROOT, 'node_modules', program);
  return execFileSync(process.execPath, [file, ...args], { cwd: root, encoding: 'utf8' });
}

const STORY = 'snapshot, feed, snapshot, dies after committed, continued by feed, idle\n';

describe.each([...wings.map((wing) => [wing]), wings])('without %s', (...deleted) => {
  test('types are right, and runs copy, follow the feed, reconcile, and continue after a crash', async () => {
    const root = await copyWithout(deleted);
    expect(run(root, 'typescript/bin/tsc', '-p', 'tsconfig.left.json')).toBe('');
    expect(run(root, 'tsx/dist/cli.mjs', STORIES)).toBe(STORY);
  }, 600_000);
});
