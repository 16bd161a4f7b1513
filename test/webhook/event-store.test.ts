import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { ID_MEMORY_MS, keyOf, listEvents, removeEvents, webhookPath } from '../../src/wings/webhook/event-files.js';
import { EventStore } from '../../src/wings/webhook/event-store.js';
import { makeFolder } from '../lake/fixture.js';
import { buildEvent, createLogIo } from './delivery.js';

const WRITER = fileURLToPath(new URL('./land-forever.mjs', import.meta.url));
const { io } = createLogIo();
const BODY = Buffer.from(buildEvent('evt_1'));

let folder: string;
beforeEach(async () => {
  folder = await makeFolder('events');
});

const setTime = (file: string, at: number) => utimes(file, at / 1000, at / 1000);

describe('an event that a published run has applied', () => {
  test('is removed, and its repeats are recognized, even after a restart', async () => {
    const store = await EventStore.open(folder, io);
    expect(await store.land('evt_1', BODY)).toBe(true);
    expect(await store.land('evt_2', BODY)).toBe(true);
    const keys = (await listEvents(folder)).map(({ key }) => key);
    await removeEvents(folder, keys, 'run-1', io);
    await removeEvents(folder, keys, 'run-1', io); // a run that was killed in between does it again
    expect(await listEvents(folder)).toEqual([]);
    expect(await store.land('evt_1', BODY)).toBe(false);
    const restarted = await EventStore.open(folder, io);
    expect(await restarted.land('evt_2', BODY)).toBe(false);
    expect(await restarted.land('evt_3', BODY)).toBe(true);
  });

  test('is forgotten after a week, on disk and in memory', async () => {
    const clock = createLogIo().io;
    const store = await EventStore.open(folder, clock);
    await store.land('evt_1', BODY);
    const start = clock.now().getTime();
    await removeEvents(folder, [keyOf('evt_1')], 'run-1', clock);
    await setTime(webhookPath(folder, 'taken', 'run-1.keys'), start);
    clock.now = () => new Date(start + ID_MEMORY_MS + 1);
    expect(await store.land('evt_2', BODY)).toBe(true); // forgets what is old
    expect(await store.land('evt_1', BODY)).toBe(true);
    await removeEvents(folder, [keyOf('evt_2')], 'run-2', clock);
    expect(await readdir(webhookPath(folder, 'taken'))).toEqual(['run-2.keys']);
  });
});

test('two receivers for one lake land an event once', async () => {
  const [one, other] = [await EventStore.open(folder, io), await EventStore.open(folder, io)];
  const landed = await Promise.all([one.land('evt_1', BODY), other.land('evt_1', BODY)]);
  expect(landed.filter(Boolean)).toHaveLength(1);
});

test('only the newest thousand bodies that were set aside are kept', async () => {
  const store = await EventStore.open(folder, io);
  const aside = webhookPath(folder, 'aside');
  const older = Array.from({ length: 1000 }, (_, n) => `20260101T${String(n).padStart(4, '0')}-x`);
  await Promise.all(older.map((name) => writeFile(path.join(aside, name), '')));
  const name = path.basename(await store.setAside(Buffer.from('{')));
  const names = await readdir(aside);
  expect(names).toHaveLength(1000);
  expect(names).toContain(name);
  expect(names).not.toContain('20260101T0000-x');
});

test("a partial file of a killed receiver doesn't count as an event, and is deleted after an hour", async () => {
  await EventStore.open(folder, io);
  const [fresh, old] = [webhookPath(folder, 'tmp', 'a'), webhookPath(folder, 'tmp', 'b')];
  for (const file of [fresh, old]) await writeFile(file, BODY.subarray(0, 20));
  await setTime(fresh, io.now().getTime());
  await setTime(old, io.now().getTime() - 3600_001);
  await EventStore.open(folder, io);
  expect(await listEvents(folder)).toEqual([]);
  expect(await readdir(webhookPath(folder, 'tmp'))).toEqual(['a']);
});

test('a receiver that is killed at any moment has every confirmed event, complete', async () => {
  const child = spawn(process.execPath, [WRITER, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
    if (said.split('\n').length > 40) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const ids = said.split('\n').slice(0, -1);
  expect(ids.length).toBeGreaterThanOrEqual(40);
  const files = new Map((await listEvents(folder)).map((event) => [event.key, event.path]));
  for (const id of ids) expect(files.has(keyOf(id)), id).toBe(true);
  for (const file of files.values()) {
    const { id, padding } = JSON.parse(await readFile(file, 'utf8'));
    expect([path.basename(file), padding]).toEqual([keyOf(id), 'x'.repeat(20_000)]);
  }
  const restarted = await EventStore.open(folder, io);
  expect(await restarted.land(ids.at(-1) as string, BODY)).toBe(false);
});
