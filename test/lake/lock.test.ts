import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import { realIo } from '../../src/io/real-io.js';
import { lockLake } from '../../src/lake/lock.js';
import { readLock } from '../../src/lake/lock-state.js';
import { identifyProcess } from '../../src/lake/process-identity.js';
import { type Lake, privatePath } from '../../src/tables/layout.js';
import { createFakeIo } from '../api/fake-io.js';
import { before } from './between-calls.js';
import { makeLake } from './fixture.js';

const HOLDER = fileURLToPath(new URL('./lock-holder.mjs', import.meta.url));
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts a process that tries to take the lock, prints `locked` or the error's code, and keeps running. */
function startHolder(lake: Lake): ChildProcess {
  const child = spawn(process.execPath, [HOLDER, lake.root], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout');
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error('it ended without a word');
}

test('a living owner keeps the lock and is named in the error; a killed owner loses it', async () => {
  const lake = await makeLake();
  const holder = startHolder(lake);
  expect(await firstLine(holder)).toBe('locked');
  const error = await lockLake(lake, realIo).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'lake_locked', facts: { pid: holder.pid, host: hostname() } });
  expect(String(error)).toMatch(/locked by process \d+ on .* since 20/);

  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const events: string[] = [];
  const io: Io = { ...realIo, log: (_level, event) => events.push(event) };
  const lock = await lockLake(lake, io);
  expect(events).toEqual(['lake.lock_taken_over']);
  await lock.release();
  expect((await readdir(privatePath(lake))).filter((name) => name.startsWith('lock'))).toEqual([]);
});

test('if many processes find a dead owner, exactly one takes over the lock', async () => {
  const lake = await makeLake();
  await writeOwner(lake, { startedAt: '1' });
  const holders = Array.from({ length: 6 }, () => startHolder(lake));
  const said = await Promise.all(holders.map(firstLine));
  expect(said.filter((line) => line === 'locked')).toHaveLength(1);
  expect(said.filter((line) => line === 'lake_locked')).toHaveLength(5);
});

test("within one process, exactly one of many contenders takes over a dead owner's lock, in every round", async () => {
  const lake = await makeLake();
  for (let round = 0; round < 30; round += 1) {
    await writeOwner(lake, { startedAt: '1', token: `dead-${round}` });
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockLake(lake, realIo)));
    const won = results.filter((result) => result.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason.code).toBe('lake_locked');
    }
    await won[0]?.value.release();
  }
  expect((await readdir(privatePath(lake))).filter((name) => name.startsWith('lock'))).toEqual([]);
});

test("an owner in another container with the same host name isn't considered dead if its process is invisible", async () => {
  const lake = await makeLake();
  await writeOwner(lake, { pid: 4194303, place: 'another boot, another namespace' });
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked' });
});

test('a lock can be taken over after an earlier takeover died half-way', async () => {
  const lake = await makeLake();
  await writeOwner(lake, { startedAt: '1', token: 'first' });
  await writeOwner(lake, { startedAt: '1', token: 'second' }, 'lock.after.first');
  const lock = await lockLake(lake, realIo);
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked' });
  await lock.release();
  expect((await readdir(privatePath(lake))).filter((name) => name.startsWith('lock'))).toEqual([]);
});

test('release keeps a lock that another process owns by now', async () => {
  const lake = await makeLake();
  const lock = await lockLake(lake, realIo);
  await writeOwner(lake, { host: 'elsewhere' }, 'lock.other');
  await rename(privatePath(lake, 'lock.other'), privatePath(lake, 'lock'));
  await lock.release();
  expect(JSON.parse(await readFile(privatePath(lake, 'lock'), 'utf8')).host).toBe('elsewhere');
});

test("the lock's holder can be read without taking it; it is alive if its process exists or beat in the last 60 s", async () => {
  const lake = await makeLake();
  const io = createFakeIo();
  expect(await readLock(lake, io)).toBeUndefined();
  const lock = await lockLake(lake, io);
  const held = {
    pid: process.pid,
    host: hostname(),
    since: io.now().toISOString(),
    beatAt: expect.any(Date),
    alive: true,
  };
  expect(await readLock(lake, io)).toEqual(held);
  await lock.release();
  await writeOwner(lake, { host: 'elsewhere' });
  const beatAt = new Date(io.now().getTime() - 60_000);
  await utimes(privatePath(lake, 'lock'), beatAt, beatAt);
  expect(await readLock(lake, io)).toMatchObject({ host: 'elsewhere', beatAt, alive: true });
  io.pass(1);
  expect(await readLock(lake, io)).toMatchObject({ alive: false });
  await writeOwner(lake, { startedAt: '1' });
  expect(await readLock(lake, io)).toMatchObject({ alive: false });
});

test('after several takeovers, the last process holds the lock', async () => {
  const lake = await makeLake();
  await writeOwner(lake, { startedAt: '1', token: 'first' });
  await writeOwner(lake, { host: 'elsewhere', token: 'second' }, 'lock.after.first');
  expect(await readLock(lake, realIo)).toMatchObject({ host: 'elsewhere', since: '2026-11-20T10:00:00.000Z' });
});

test("the error names the lock's holder, the time and a next step, and a takeover is logged", async () => {
  const lake = await makeLake();
  const io = createFakeIo();
  await writeOwner(lake, { pid: 7, host: 'elsewhere' });
  await expect(lockLake(lake, io)).rejects.toMatchObject({
    code: 'lake_locked',
    message: `${lake.root}: locked by process 7 on elsewhere since 2026-11-20T10:00:00.000Z`,
    facts: { pid: 7, host: 'elsewhere', since: '2026-11-20T10:00:00.000Z', hint: expect.stringContaining('Wait') },
  });
  expect(io.events).toEqual([]);
  await setAge(lake, 70);
  await (await lockLake(lake, io)).release();
  expect(io.events).toEqual([{ level: 'warn', event: 'lake.lock_taken_over', facts: { pid: 7, host: 'elsewhere' } }]);
});

test.each(['', '{', '{"pid":1}', 'null'])(
  'a lock file with the invalid text %j is left alone and reported',
  async (text) => {
    const lake = await makeLake();
    await writeFile(privatePath(lake, 'lock'), text);
    await expect(lockLake(lake, realIo)).rejects.toMatchObject({
      code: 'lake_invalid',
      message: `${privatePath(lake, 'lock')}: pricelake did not write this lock`,
      facts: { hint: expect.stringContaining('delete the file') },
      cause: expect.any(Error),
    });
    expect(await readdir(privatePath(lake))).toContain('lock');
    expect((await readdir(privatePath(lake))).filter((name) => name.startsWith('lock.new.'))).toEqual([]);
  },
);

async function setAge(lake: Lake, seconds: number): Promise<void> {
  const at = Date.now() / 1000 - seconds;
  await utimes(privatePath(lake, 'lock'), at, at);
}

async function writeOwner(lake: Lake, owner: Record<string, unknown>, name = 'lock'): Promise<void> {
  const whole = { ...identifyProcess(), token: 'token', acquiredAt: '2026-11-20T10:00:00.000Z', ...owner };
  await writeFile(privatePath(lake, 'next'), JSON.stringify(whole));
  await rename(privatePath(lake, 'next'), privatePath(lake, name));
}

const DEAD = { startedAt: '1', token: 'dead' };
const ELSEWHERE = { host: 'elsewhere', token: 'living' };

const listLocks = async (lake: Lake) => (await readdir(privatePath(lake))).filter((name) => name.startsWith('lock'));

test('a lock that disappears while a contender reads it counts as free', async () => {
  const lake = await makeLake();
  await writeOwner(lake, ELSEWHERE);
  before('readFile', /\/lock$/, (path) => rm(path));
  await (await lockLake(lake, realIo)).release();
  expect(await listLocks(lake)).toEqual([]);
});

test('a lock that disappears while its age is checked is refused once, and is free the next time', async () => {
  const lake = await makeLake();
  await writeOwner(lake, ELSEWHERE);
  before('stat', /\/lock$/, (path) => rm(path));
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked', facts: { host: 'elsewhere' } });
  await (await lockLake(lake, realIo)).release();
});

test('an owner on another host whose last heartbeat is exactly 60 s old keeps the lock', async () => {
  const lake = await makeLake();
  await writeOwner(lake, ELSEWHERE);
  const at = new Date('2026-11-20T10:00:00Z');
  await utimes(privatePath(lake, 'lock'), at, new Date(at.getTime() - 60_000));
  before('stat', /\/lock\.new\./, (path) => utimes(path, at, at));
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked' });
});

test('a contender that is second to take over from a dead owner leaves the lock to the first', async () => {
  const lake = await makeLake();
  await writeOwner(lake, DEAD);
  before('link', /\/lock\.after\.dead$/, () => writeOwner(lake, ELSEWHERE, 'lock.after.dead'));
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked', facts: { host: 'elsewhere' } });
  expect(await listLocks(lake)).toEqual(['lock', 'lock.after.dead']);
});

test('a contender that arrives after another has taken over withdraws', async () => {
  const lake = await makeLake();
  await writeOwner(lake, DEAD);
  before('link', /\/lock\.after\.dead$/, () => writeOwner(lake, ELSEWHERE));
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked', facts: { host: 'elsewhere' } });
  expect(await listLocks(lake)).toEqual(['lock']);
});

test('a contender that finds the lock free again takes it normally', async () => {
  const lake = await makeLake();
  await writeOwner(lake, DEAD);
  before('link', /\/lock\.after\.dead$/, () => rm(privatePath(lake, 'lock')));
  await (await lockLake(lake, realIo)).release();
  expect(await listLocks(lake)).toEqual([]);
});
