import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { identifyProcess, isAlive } from '../../src/lake/process-identity.js';
import { makeFolder } from './fixture.js';

/** An id that no process has, because ids end at 4194304. */
const NOBODY = 4_194_305;

/** Field 22 of a process's stat, counted after its name. */
function readStart(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ')[19] ?? '';
}

function start(file: string, args: string[]) {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('a process is alive until it ends, and a later process with its id is another one', () => {
  const self = identifyProcess();
  expect(isAlive(self)).toBe(true);
  expect(isAlive({ ...self, startedAt: '1' })).toBe(false);
  expect(isAlive({ ...self, pid: NOBODY })).toBe(false);
  expect(isAlive({ ...self, pid: NOBODY, startedAt: '' })).toBe(false);
});

test('the state of a process on another host or in another container is unknown', () => {
  const self = identifyProcess();
  expect(isAlive({ ...self, host: 'elsewhere' })).toBeUndefined();
  expect(isAlive({ ...self, place: 'elsewhere' })).toBeUndefined();
});

test("a process that has ended is not alive, even if its parent hasn't collected its status", async () => {
  // It ends after its parent is no longer a shell, which would collect its status.
  const child = '(until grep -q sleep /proc/$$/comm; do :; done)';
  const parent = start('sh', ['-c', `${child} & echo $!; exec sleep 30`]);
  for await (const line of createInterface(parent.stdout)) {
    const pid = Number(line);
    const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.[0];
    await expect.poll(state, { interval: 5, timeout: 10_000 }).toBe('Z');
    expect(isAlive({ ...identifyProcess(), pid, startedAt: readStart(pid) })).toBe(false);
    return;
  }
});

test('the name of a process may contain brackets and spaces', async () => {
  const file = join(await makeFolder(), 'a) Z 7 (b');
  await symlink('/bin/sleep', file);
  const { pid = 0 } = start(file, ['30']);
  expect(isAlive({ ...identifyProcess(), pid, startedAt: readStart(pid) })).toBe(true);
});

test('the state of a process that /proc hides is unknown while its id is in use', async () => {
  const proc = await makeFolder();
  await mkdir(join(proc, 'sys', 'kernel', 'random'), { recursive: true });
  await mkdir(join(proc, 'self', 'ns'), { recursive: true });
  await writeFile(join(proc, 'sys', 'kernel', 'random', 'boot_id'), 'boot\n');
  await symlink('pid:[1]', join(proc, 'self', 'ns', 'pid'));
  const hidden = { ...identifyProcess(proc), startedAt: '77' };
  expect(hidden.place).toBe('boot pid:[1]');
  expect(isAlive(hidden, proc)).toBeUndefined();
  expect(isAlive({ ...hidden, pid: NOBODY }, proc)).toBe(false);
});

test('without /proc, a process is alive while it can be signaled', async () => {
  const proc = await makeFolder();
  const self = identifyProcess(proc);
  expect(self).toEqual({ pid: process.pid, host: hostname(), place: '', startedAt: '' });
  expect(isAlive(self, proc)).toBe(true);
  expect(isAlive({ ...self, pid: NOBODY }, proc)).toBe(false);
  // A process with a known start time that isn't listed may be hidden, or another process has its id.
  expect(isAlive({ ...self, startedAt: '1' }, proc)).toBeUndefined();
  expect(isAlive({ ...self, pid: NOBODY, startedAt: '1' }, proc)).toBe(false);
  const file = join(proc, 'sys', 'kernel', 'random', 'boot_id');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, 'boot\n');
  expect(identifyProcess(proc).place).toBe('boot');
});
