import { open, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { realIo } from '../../src/io/io.js';
import { startHeartbeat } from '../../src/lake/heartbeat.js';
import { makeFolder } from './fixture.js';

/** A beat is due every 20 ms, but nothing says how long a disk may take for one. */
const PATIENT = { timeout: 30_000, interval: 5 };

async function startInFolder() {
  const path = join(await makeFolder(), 'lock');
  const file = await open(path, 'wx+');
  await file.writeFile('owner');
  return { path, heartbeat: startHeartbeat(path, file, 'owner', realIo, 20) };
}

test('a heartbeat renews the date of the lock and leaves its text alone', async () => {
  const { path, heartbeat } = await startInFolder();
  await utimes(path, 0, 0);
  await expect.poll(async () => (await stat(path)).mtimeMs, PATIENT).toBeGreaterThan(Date.now() - 60_000);
  expect((await stat(path)).size).toBe('owner'.length);
  expect(heartbeat.lost.aborted).toBe(false);
  await heartbeat.release();
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('an owner whose lock was taken over is told, and beats no more', async () => {
  const { path, heartbeat } = await startInFolder();
  await writeFile(`${path}.other`, 'other');
  await utimes(`${path}.other`, 0, 0);
  await rename(`${path}.other`, path);
  await expect.poll(() => heartbeat.lost.aborted, PATIENT).toBe(true);
  await setTimeout(60);
  expect((await stat(path)).mtimeMs).toBe(0);
  await heartbeat.release();
  expect((await stat(path)).size).toBe('other'.length);
});
