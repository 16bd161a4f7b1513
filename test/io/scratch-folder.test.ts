import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { makeScratchFolder } from '../../src/io/scratch-folder.js';
import { removeBusyFolder } from '../../src/io/temporary-folder.js';

it('a process removes only the scratch folders of dead processes of its kind, and its own is private', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'pricelake-test-'));
  const own = await makeScratchFolder('sandbox', parent);
  const dead = spawnSync(process.execPath, ['--version']).pid;
  const ofAnother = (pid: number | string) => basename(own).replace(`-${process.pid}-`, `-${pid}-`);
  const kept = [
    ofAnother(1),
    ofAnother('x'),
    basename(own).replace(/^pricelake-sandbox-[\w.]+/, 'pricelake-sandbox-other'),
    basename(own).replace('-sandbox-', '-explore-').replace(`-${process.pid}-`, `-${dead}-`),
    'else',
  ];
  for (const name of [...kept, ofAnother(dead)]) await mkdir(join(parent, name, 'spill'), { recursive: true });
  const next = await makeScratchFolder('sandbox', parent);
  expect((await readdir(parent)).sort()).toEqual([...kept, basename(own), basename(next)].sort());
  expect((await stat(own)).mode & 0o777).toBe(0o700);
  await rm(parent, { recursive: true });
});

it('a folder can be removed while a process still writes to it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pricelake-test-'));
  const write = `const { writeFileSync } = require('node:fs');
    for (const end = Date.now() + 400; Date.now() < end; ) writeFileSync('${folder}/' + Math.random(), '');`;
  const writer = spawn(process.execPath, ['-e', write], { stdio: 'ignore' });
  while ((await readdir(folder)).length < 100);
  await removeBusyFolder(folder);
  await expect(stat(folder)).rejects.toThrow('ENOENT');
  if (writer.exitCode === null) await once(writer, 'exit');
});
