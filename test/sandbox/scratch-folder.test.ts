import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { makeScratchFolder } from '../../src/sandbox/world/world-database.js';

it('a sandbox removes the folders of those that were killed, and no others', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'pricelake-test-'));
  const own = await makeScratchFolder(parent);
  const dead = spawnSync(process.execPath, ['--version']).pid;
  const ofAnother = (pid: number | string) => basename(own).replace(`-${process.pid}-`, `-${pid}-`);
  const kept = [
    ofAnother(1),
    ofAnother('x'),
    basename(own).replace(/^pricelake-sandbox-[\w.]+/, 'pricelake-sandbox-other'),
    'else',
  ];
  for (const name of [...kept, ofAnother(dead)]) await mkdir(join(parent, name, 'spill'), { recursive: true });
  const next = await makeScratchFolder(parent);
  expect((await readdir(parent)).sort()).toEqual([...kept, basename(own), basename(next)].sort());
  await rm(parent, { recursive: true });
});
