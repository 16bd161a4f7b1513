import { mkdir, open, rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startHeartbeat } from '../../src/lake/lock.js';
import { createFakeIo } from '../api/fake-io.js';
import { makeFolder } from './fixture.js';

/** A heartbeat is due every 20 ms, but a disk may take any time to write it. */
const PATIENT = { timeout: 30_000, interval: 5 };

async function startInFolder() {
  const folder = await makeFolder();
  await mkdir(join(folder, 'disk'));
  await symlink('disk', join(folder, 'mounted'));
  const path = join(folder, 'mounted', 'lock');
  const file = await open(path, 'wx+');
  await file.writeFile('owner');
  const io = createFakeIo();
  return { folder, path, io, heartbeat: startHeartbeat(path, file, 'owner', io, 20) };
}

/** Replaces `mounted` by `target` atomically. */
async function mount(folder: string, target: string): Promise<void> {
  await symlink(target, join(folder, 'next'));
  await rename(join(folder, 'next'), join(folder, 'mounted'));
}

test("a heartbeat renews the lock's date and keeps its text", async () => {
  const { path, heartbeat } = await startInFolder();
  await utimes(path, 0, 0);
  await expect.poll(async () => (await stat(path)).mtimeMs, PATIENT).toBeGreaterThan(Date.now() - 60_000);
  expect((await stat(path)).size).toBe('owner'.length);
  expect(heartbeat.lost.aborted).toBe(false);
  await heartbeat.release();
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('an owner whose lock was taken over gets an error and sends no further heartbeat', async () => {
  const { path, io, heartbeat } = await startInFolder();
  await writeFile(`${path}.other`, 'other');
  await utimes(`${path}.other`, 0, 0);
  await rename(`${path}.other`, path);
  await expect.poll(() => heartbeat.lost.aborted, PATIENT).toBe(true);
  await setTimeout(60);
  expect((await stat(path)).mtimeMs).toBe(0);
  expect(heartbeat.lost.reason).toMatchObject({ message: `${path}: another process took over the lock` });
  expect(io.events).toEqual([{ level: 'error', event: 'lake.lock_lost', facts: { path } }]);
  await heartbeat.release();
  expect((await stat(path)).size).toBe('other'.length);
});

test('a failed heartbeat is logged and skipped, and the next succeeds when the file system is back', async () => {
  const { folder, path, io, heartbeat } = await startInFolder();
  await writeFile(join(folder, 'nothing'), '');
  await mount(folder, 'nothing');
  await expect.poll(() => io.events.length, PATIENT).toBeGreaterThan(0);
  const error = expect.stringContaining('ENOTDIR');
  expect(io.events[0]).toEqual({ level: 'warn', event: 'lake.heartbeat_missed', facts: { error } });
  await utimes(join(folder, 'disk', 'lock'), 0, 0);
  await mount(folder, 'disk');
  await expect.poll(async () => (await stat(path)).mtimeMs, PATIENT).toBeGreaterThan(0);
  expect(heartbeat.lost.aborted).toBe(false);
  await heartbeat.release();
  await expect(stat(path)).rejects.toThrow('ENOENT');
});
