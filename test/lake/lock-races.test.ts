/** What other processes do between two calls of the file system: each test stops one at such a place. */
import { readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { realIo } from '../../src/io/io.js';
import type { Lake } from '../../src/lake/lake.js';
import { lockLake } from '../../src/lake/lock.js';
import { identifyProcess } from '../../src/lake/process-identity.js';
import { privatePath } from '../../src/tables/layout.js';
import { before } from './between-calls.js';
import { makeLake } from './fixture.js';

async function writeOwner(lake: Lake, owner: Record<string, unknown>, name = 'lock'): Promise<void> {
  const whole = { ...identifyProcess(), token: 'token', acquiredAt: '2026-11-20T10:00:00.000Z', ...owner };
  await writeFile(privatePath(lake, 'next'), JSON.stringify(whole));
  await rename(privatePath(lake, 'next'), privatePath(lake, name));
}

const DEAD = { startedAt: '1', token: 'dead' };
const ELSEWHERE = { host: 'elsewhere', token: 'living' };

const listLocks = async (lake: Lake) => (await readdir(privatePath(lake))).filter((name) => name.startsWith('lock'));

test('a lock that goes while a contender reads it is free', async () => {
  const lake = await makeLake();
  await writeOwner(lake, ELSEWHERE);
  before('readFile', /\/lock$/, (path) => rm(path));
  await (await lockLake(lake, realIo)).release();
  expect(await listLocks(lake)).toEqual([]);
});

test('a lock that goes while its age is looked at is held for now, and free the next time', async () => {
  const lake = await makeLake();
  await writeOwner(lake, ELSEWHERE);
  before('stat', /\/lock$/, (path) => rm(path));
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked', facts: { host: 'elsewhere' } });
  await (await lockLake(lake, realIo)).release();
});

test('an owner elsewhere whose last heartbeat is exactly 60 s old is believed', async () => {
  const lake = await makeLake();
  await writeOwner(lake, ELSEWHERE);
  const at = new Date('2026-11-20T10:00:00Z');
  await utimes(privatePath(lake, 'lock'), at, new Date(at.getTime() - 60_000));
  before('stat', /\/lock\.new\./, (path) => utimes(path, at, at));
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked' });
});

test('a contender that is not the first to follow a dead owner leaves the lock to the one that was', async () => {
  const lake = await makeLake();
  await writeOwner(lake, DEAD);
  before('link', /\/lock\.after\.dead$/, () => writeOwner(lake, ELSEWHERE, 'lock.after.dead'));
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked', facts: { host: 'elsewhere' } });
  expect(await listLocks(lake)).toEqual(['lock', 'lock.after.dead']);
});

test('a contender that comes when another has followed the dead owner withdraws', async () => {
  const lake = await makeLake();
  await writeOwner(lake, DEAD);
  before('link', /\/lock\.after\.dead$/, () => writeOwner(lake, ELSEWHERE));
  await expect(lockLake(lake, realIo)).rejects.toMatchObject({ code: 'lake_locked', facts: { host: 'elsewhere' } });
  expect(await listLocks(lake)).toEqual(['lock']);
});

test('a contender that comes when the lock is free again takes it as any other does', async () => {
  const lake = await makeLake();
  await writeOwner(lake, DEAD);
  before('link', /\/lock\.after\.dead$/, () => rm(privatePath(lake, 'lock')));
  await (await lockLake(lake, realIo)).release();
  expect(await listLocks(lake)).toEqual([]);
});
